"""Contrast maximization: the motion under which the events are sharpest, and no labels."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from evcrisp.contrast import POLARITIES, ContrastMap
from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.build_estimate import concluded, support
from evcrisp.estimators.hot_pixels import data_without_hot_pixels
from evcrisp.estimators.result import Estimate
from evcrisp.motion import MotionModel
from evcrisp.objectives import OBJECTIVES
from evcrisp.optimize import SOLVERS, SolverResult
from evcrisp.search.alignment import Alignment, check_signed
from evcrisp.search.local_refinement import refine
from evcrisp.search.multi_reference import MultiReference, check_positive
from evcrisp.search.search import SearchConfig, find_motion, result_without_evidence
from evcrisp.search.window_data import WindowData

STARTS = ("search", "zero")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cmax:
    """Find the motion that makes the contrast map sharpest; keep every event.

    Parameters
    ----------
    objective : str
        What sharp means; one of the keys of ``evcrisp.objectives.OBJECTIVES``.
    solver : str, optional
        One of the keys of ``evcrisp.optimize.SOLVERS``, which climbs the objective after the
        search. Without it the variance ends with the search, which climbs it already, and other
        objectives go on with "bfgs".
    start : {"search", "zero"}
        Where the solver starts from: the motion that the search finds, or the given one (zero if
        none is given) through maps with less and less blur. Hopeless without a near start, as in
        most published code, but it shows what a solver does.
    contrast : ContrastMap
        The map that the solver climbs on, and on which events are scored. The spline does not
        catch solvers at whole pixels, as "bilinear" does.
    polarity : {"unsigned", "separate", "signed"}
        Which events make which map: all one, ON and OFF one each, or one of ON minus OFF. The
        search looks at all events together; another choice goes on with the solver.
    multi_reference : bool
        Look at the start, the middle and the end of the window instead of the middle alone, each
        relative to the events where they are: a motion that piles events up at one time scatters
        them at another. Only for objectives of 0 or more.
    blurs_px : sequence of float, px
        Blurs before that of ``contrast``, for the start "zero".
    search : SearchConfig
        How to search.

    Notes
    -----
    Hot pixels have no part in finding the motion. The score of an event is the contrast that it
    finds in all others at its place.
    :func:`evcrisp.track` masks hot pixels, so that in a recording their events are not kept.

    References
    ----------
    G. Gallego, H. Rebecq, D. Scaramuzza, "A unifying contrast maximization framework for
    event cameras", CVPR 2018.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=30_000, seed=1)
    >>> result = Cmax().run(evcrisp.Window(scene.events, 0, 30_000), scene.motion)
    >>> bool(scene.warp_error_px(result.theta, 0, 30_000) < 0.1)
    True
    """

    name: ClassVar[str] = "cmax"

    objective: str = "variance"
    solver: str | None = None
    start: str = "search"
    contrast: ContrastMap = field(default_factory=lambda: ContrastMap(footprint="spline"))
    polarity: str = "unsigned"
    multi_reference: bool = False
    blurs_px: tuple[float, ...] = (4.0, 2.0)
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        lookup(OBJECTIVES, self.objective, "objective")
        if self.solver is not None:
            lookup(SOLVERS, self.solver, "solver")
        lookup(POLARITIES, self.polarity, "polarity")
        check_signed(OBJECTIVES[self.objective](), self.polarity)
        if self.multi_reference:
            check_positive(OBJECTIVES[self.objective]())
        if self.start not in STARTS:
            raise ConfigError(f"`start` must be one of {', '.join(STARTS)}; got {self.start!r}.")

    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate the motion of one window."""
        data, clean = data_without_hot_pixels(window, model)
        end = self.align(clean, theta0)
        return concluded(self, window, data, end, support(data, end.theta, self.contrast))

    def align(self, data: WindowData, theta0: Floats | None = None) -> SolverResult:
        """Return the motion of events that are numbers already."""
        hopeless = result_without_evidence(data, theta0)
        if hopeless is not None:
            return hopeless
        if self.start == "zero":
            n_params = len(data.warp.model.param_names)
            start = np.zeros(n_params) if theta0 is None else np.nan_to_num(theta0)
            maps = [replace(self.contrast, sigma_px=blur) for blur in self.blurs_px]
            return self._climbed(data, start, [*maps, self.contrast])
        found = find_motion(data, theta0, self.search)
        if self.solver is None and self._matches_search_objective:
            return found
        end = self._climbed(data, found.theta, [self.contrast])
        return replace(end, n_eval=end.n_eval + found.n_eval)

    @property
    def _matches_search_objective(self) -> bool:
        is_plain = self.polarity == "unsigned" and not self.multi_reference
        return is_plain and self.objective == "variance"

    def _climbed(
        self, data: WindowData, theta: Floats, contrasts: list[ContrastMap]
    ) -> SolverResult:
        objective = OBJECTIVES[self.objective]()
        maps = [Alignment(data, one, objective, polarity=self.polarity) for one in contrasts]
        sharpnesses = [MultiReference.of(one) for one in maps] if self.multi_reference else maps
        solver = SOLVERS[self.solver or "bfgs"]()
        return refine(data, theta, sharpnesses, solver, self.search.max_log_area)
