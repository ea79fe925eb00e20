"""The paper's joint objective, solved exactly: W in closed form, theta by quasi-Newton steps."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import ConfigError
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.guard import Guard, log_area_change
from evcrisp.estimators.joint import JointProblem, RegretConfig
from evcrisp.estimators.joint_labels import conclude
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.scaling import Scaling
from evcrisp.estimators.search import SearchConfig, find_motion
from evcrisp.motion import MotionModel
from evcrisp.solvers import Function, SolverResult, Status
from evcrisp.solvers.bfgs import Bfgs
from evcrisp.windows import Window

Floats = NDArray[np.float64]

#: Pixel sizes of the maps of the second way down. Large pixels blur, which leads past small minima.
DETOUR = (4, 2, 1)

#: Where a search on a coarse map ends; its minimum is not the one that is looked for.
COARSE_TOL = 1e-4

#: A search ends when a step is shorter than this, px of displacement during the window.
TOL_STEP_PX = 3e-4

#: Inverse of the second derivative of V / b_ED, px^2, that windows usually have. Without a guess
#: of it, a gentle slope would pass for a minimum.
USUAL_CURVATURE = 20.0

#: Ends of the search for a motion after which there is nothing to improve.
HOPELESS = (Status.TOO_FEW_EVENTS, Status.FLAT, Status.NOT_FINITE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRegret(RegretConfig):
    """Minimize J over theta alone, with the best W for every theta; see :class:`RegretConfig`.

    Parameters
    ----------
    tol : float
        The search ends when a step promises less than this, in units of b_ED.
    max_iter : int
        Most steps of a search.
    search : SearchConfig
        How the motion is found from which the search starts.

    Notes
    -----
    The score of an event is the contrast map read at it, and it is kept if W read at it exceeds
    1/2. Events that the warp takes off the padded map are judged on the unaligned map.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(duration_us=30_000, noise_hz=2.0, seed=1)
    >>> result = ExactRegret().run(evcrisp.Window(scene.events, 0, 30_000), scene.motion)
    >>> bool(scene.warp_error_px(result.theta, 0, 30_000) < 0.1)
    True
    >>> result.regret.lam
    0.0
    """

    name: ClassVar[str] = "exact"

    tol: float = 1e-9
    max_iter: int = 100
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        RegretConfig.__post_init__(self)
        if not 0.0 < self.tol < 1.0:
            raise ConfigError(f"`tol` must lie between 0 and 1; got {self.tol}.")
        if self.max_iter < 1:
            raise ConfigError(f"`max_iter` must be 1 or more; got {self.max_iter}.")

    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window."""
        data = WindowData.of(window, model)
        problem = JointProblem.of(data, self)
        start = find_motion(data, theta0, self.search)
        if start.status in HOPELESS:
            return conclude(self, problem, window, start)
        end = self.descend(problem, start.theta)
        end = replace(end, n_eval=start.n_eval + end.n_eval)
        return conclude(self, problem, window, end)

    def descend(self, problem: JointProblem, theta: Floats) -> SolverResult:
        """Return where V is lowest near ``theta``; the result's value is V.

        Where denoising has a part in the solution, V has many minima far from alignment. Another
        one is then looked for from no motion through coarse maps, and the lower of both is taken.
        """
        end = self._through(problem, theta, (1,))
        if problem.solve(end.theta).lam > 0.0:
            other = self._through(problem, np.zeros(theta.size), DETOUR)
            n_eval = end.n_eval + other.n_eval
            end = replace(other if other.value < end.value else end, n_eval=n_eval)
        return end

    def _through(
        self, problem: JointProblem, theta: Floats, levels: tuple[int, ...]
    ) -> SolverResult:
        """Descend on one map after the other."""
        scaling = scaling_of(problem.data)
        scaled = scaling.scaled(theta)
        n_eval, status = 0, Status.CONVERGED
        for level in levels:
            solver = Bfgs(
                max_iter=self.max_iter,
                tol=self.tol if level == 1 else max(self.tol, COARSE_TOL),
                tol_step=TOL_STEP_PX * level,
                max_step=2.0 * level,
            )
            fun = negated(problem if level == 1 else problem.coarser(level), scaling)
            end = solver.climb(fun, scaled, USUAL_CURVATURE * np.eye(scaled.size))
            scaled, status = end.theta, end.status
            n_eval += end.n_eval
        theta = scaling.theta(scaled)
        if has_collapsed(problem.data, theta, self.search.max_log_area):
            status = Status.COLLAPSED
        return SolverResult(theta, problem.solve(theta).value, n_eval, status)


def scaling_of(data: WindowData) -> Scaling:
    """Return the parameters in which 1 is 1 px of displacement between first and last event."""
    span_s = float(data.warp.dt.max() - data.warp.dt.min())
    return Scaling.of(data.warp.model, data.resolution, span_s)


def negated(problem: JointProblem, scaling: Scaling, lam: float | None = None) -> Function:
    """Return (b_EA - V) / b_ED as a function of scaled parameters, for solvers that maximize.

    A wall keeps models that can from shrinking the image to a few pixels; see :class:`Guard`.
    """
    unit = problem.terms.baseline_ed or 1.0
    # Without b_EA the value is of the size of its changes, to which tolerances are relative.
    origin = problem.terms.baseline_ea
    guard = Guard.of(problem.data.warp.model, problem.data.resolution)

    def fun(scaled: Floats) -> tuple[float, Floats]:
        value, gradient = problem.value_and_gradient(scaling.theta(scaled), lam)
        wall, push = guard.penalty(scaled)
        return (origin - value) / unit - wall, scaling.gradient(gradient) / -unit - push

    return fun


def has_collapsed(data: WindowData, theta: Floats, max_log_area: float) -> bool:
    """Return whether a motion shrinks or grows the image beyond a bound."""
    span_s = float(data.warp.dt.max() - data.warp.dt.min())
    return log_area_change(data.warp.model, theta, data.resolution, span_s) > 1.1 * max_log_area
