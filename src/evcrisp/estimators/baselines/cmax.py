"""Contrast maximization: estimate the motion only, without labels."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from evcrisp.contrast import POLARITIES, ContrastMap
from evcrisp.core.registry import lookup
from evcrisp.core.types import Floats
from evcrisp.core.validation import check_choice
from evcrisp.core.windows import Window
from evcrisp.estimators.hot_pixels import data_without_hot_pixels
from evcrisp.estimators.result import Estimate, estimate_from_solver
from evcrisp.estimators.view_frame import on_view_frame
from evcrisp.motion import MotionModel
from evcrisp.objectives import OBJECTIVES
from evcrisp.optimize import SOLVERS, SolverResult
from evcrisp.search.alignment import Alignment, MultiReference, check_positive, check_signed
from evcrisp.search.local_refinement import refine
from evcrisp.search.search import SearchConfig, find_motion, result_without_evidence
from evcrisp.search.window_data import WindowData

STARTS = ("search", "zero")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cmax:
    """Find the motion with the sharpest contrast map; label every event as signal.

    Hot pixels are excluded from the search. The score of an event is the contrast at its position
    that comes from all other events. :func:`evcrisp.track` labels hot pixels as noise.

    Parameters
    ----------
    objective : str
        Measure of sharpness, one of the keys of ``evcrisp.objectives.OBJECTIVES``.
    solver : str, optional
        Solver after the search, one of the keys of ``evcrisp.optimize.SOLVERS``. By default none
        for the variance, which the search maximizes already, and "bfgs" for other objectives.
    start : {"search", "zero"}
        Start of the solver: the result of the search; or ``theta0`` (zero by default) without a
        search, on maps with less and less blur. "zero" fails for large displacements.
    contrast : ContrastMap
        The map for the solver and the scores. On "bilinear" maps solvers stop at whole pixels.
    polarity : {"unsigned", "separate", "signed"}
        One map of all events, one each for ON and OFF, or one of ON minus OFF. The search is always
        unsigned; for other values the solver follows it.
    multi_reference : bool
        Use start, middle and end of the window as reference times, each normalized by the unwarped
        events, to prevent collapse at one time. Only for objectives that are never negative.
    blurs_px : sequence of float, px
        Blurs before that of ``contrast``, for the start "zero".
    search : SearchConfig
        Parameters of the search.

    References
    ----------
    G. Gallego et al., "A unifying contrast maximization framework for event cameras", CVPR 2018.

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
        check_choice("start", self.start, STARTS)

    @on_view_frame
    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate the motion of one window."""
        data, clean = data_without_hot_pixels(window, model)
        end = self.align(clean, theta0)
        score = leave_one_out_contrast(data, end.theta, self.contrast)
        return estimate_from_solver(self, window, data, end, score)

    def align(self, data: WindowData, theta0: Floats | None = None) -> SolverResult:
        """Estimate the motion of prepared events."""
        result = result_without_evidence(data, theta0)
        if result is not None:
            return result
        if self.start == "zero":
            n_params = len(data.warp.model.param_names)
            start = np.zeros(n_params) if theta0 is None else np.nan_to_num(theta0)
            maps = [replace(self.contrast, sigma_px=blur) for blur in self.blurs_px]
            return self._solve(data, start, [*maps, self.contrast])
        found = find_motion(data, theta0, self.search)
        is_unsigned = self.polarity == "unsigned" and not self.multi_reference
        if self.solver is None and is_unsigned and self.objective == "variance":
            return found  # the search has maximized this objective
        end = self._solve(data, found.theta, [self.contrast])
        return replace(end, n_eval=end.n_eval + found.n_eval)

    def _solve(self, data: WindowData, theta: Floats, contrasts: list[ContrastMap]) -> SolverResult:
        """Maximize the objective on one map after the other."""
        objective = OBJECTIVES[self.objective]()
        alignments = [Alignment(data, c, objective, polarity=self.polarity) for c in contrasts]
        if self.multi_reference:
            alignments = [MultiReference.of(alignment) for alignment in alignments]
        solver = SOLVERS[self.solver or "bfgs"]()
        return refine(data, theta, alignments, solver, self.search.max_log_area)


def leave_one_out_contrast(data: WindowData, theta: Floats, contrast: ContrastMap) -> Floats:
    """Return the contrast from all other events at each event, (n,); finite, and 0 off the map."""
    x, y = data.warp.warp(theta)
    iwe = contrast.build(x, y, np.ones(x.size), data.resolution)
    return np.nan_to_num(np.maximum(contrast.leave_one_out(iwe, x, y), 0.0))
