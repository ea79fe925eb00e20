"""The paper's joint objective, solved exactly: W in closed form, theta by quasi-Newton steps."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import ConfigError
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.joint import JointProblem, RegretConfig
from evcrisp.estimators.joint_labels import conclude
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.scaling import Scaling
from evcrisp.motion import MotionModel
from evcrisp.solvers import Function, SolverResult, Status
from evcrisp.solvers.bfgs import Bfgs
from evcrisp.windows import Window

Floats = NDArray[np.float64]

#: Where a search on a coarse map ends; its minimum is not the one that is looked for.
COARSE_TOL = 1e-5

#: Inverse of the second derivative of V / b_ED, px^2, that windows usually have. Without a guess
#: of it, a gentle slope would pass for a minimum.
USUAL_CURVATURE = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRegret(RegretConfig):
    """Minimize J over theta alone, with the best W for every theta; see :class:`RegretConfig`.

    Parameters
    ----------
    levels : sequence of int
        Pixel sizes of the maps on which theta is searched, in pixels of ``contrast``; the last
        one is 1. Large pixels blur, which leads past the small optima of the sharp map.
    tol : float
        A search ends when a step promises less than this, in units of b_ED.
    max_iter : int
        Most steps on a level.

    Notes
    -----
    Score and labels: the score of an event is the contrast map read at it, and it is kept if W
    read at it exceeds 1/2. Events off the padded map are judged on the unaligned map.

    References
    ----------
    .. [1] The joint formulation is the paper's; the closed form of W is derived in
       ``docs/method.md``.
    """

    name: ClassVar[str] = "regret-exact"

    levels: tuple[int, ...] = (4, 2, 1)
    tol: float = 1e-8
    max_iter: int = 100

    def __post_init__(self) -> None:
        RegretConfig.__post_init__(self)
        object.__setattr__(self, "levels", tuple(int(level) for level in self.levels))
        if not self.levels or self.levels[-1] != 1 or not all(1 <= v <= 16 for v in self.levels):
            raise ConfigError(
                f"`levels` must be pixel sizes in 1..16 that end with 1; got {self.levels}."
            )
        if not 0.0 < self.tol < 1.0:
            raise ConfigError(f"`tol` must lie between 0 and 1; got {self.tol}.")
        if self.max_iter < 1:
            raise ConfigError(f"`max_iter` must be 1 or more; got {self.max_iter}.")

    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window."""
        data = WindowData.of(window, model)
        problem = JointProblem.of(data, self)
        theta = np.zeros(len(model.param_names)) if theta0 is None else np.array(theta0, float)
        status = too_little(data)
        if status is not None:
            return conclude(self, problem, window, theta, status)
        end = self.descend(problem, theta)
        return conclude(self, problem, window, end.theta, end.status, n_eval=end.n_eval)

    def descend(self, problem: JointProblem, theta: Floats) -> SolverResult:
        """Return where V(theta) is lowest near ``theta``; the result's value is V."""
        data = problem.data
        scaling = Scaling.of(data.warp.model, data.resolution, data.duration_s)
        scaled = scaling.scaled(theta)
        n_eval = 0
        for level in self.levels:
            coarse = problem if level == 1 else problem.coarser(level)
            solver = Bfgs(
                max_iter=self.max_iter,
                tol=self.tol if level == 1 else max(self.tol, COARSE_TOL),
                tol_step=1e-3 * level,
                max_step=2.0 * level,
            )
            end = solver.climb(negated(coarse, scaling), scaled, USUAL_CURVATURE * np.eye(scaled.size))
            scaled = end.theta
            n_eval += end.n_eval
        theta = scaling.theta(scaled)
        return SolverResult(theta, problem.solve(theta).value, n_eval, end.status)


def negated(problem: JointProblem, scaling: Scaling, lam: float | None = None) -> Function:
    """Return (b_EA - V) / b_ED as a function of scaled parameters, for solvers that maximize."""
    unit = problem.terms.baseline_ed or 1.0
    # Without b_EA the value is of the size of its changes, to which tolerances are relative.
    origin = problem.terms.baseline_ea

    def fun(scaled: Floats) -> tuple[float, Floats]:
        value, gradient = problem.value_and_gradient(scaling.theta(scaled), lam)
        return (origin - value) / unit, scaling.gradient(gradient) / -unit

    return fun


def too_little(data: WindowData) -> Status | None:
    """Return why a window cannot tell a motion, or None if it can."""
    if len(data) < 2:
        return Status.TOO_FEW_EVENTS
    if data.warp.dt.min() == data.warp.dt.max():
        return Status.FLAT
    return None
