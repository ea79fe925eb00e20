"""Solve the joint problem with W in closed form and theta by quasi-Newton steps."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.core.windows import Window
from evcrisp.estimators.joint.minimize import minimize_joint
from evcrisp.estimators.joint.problem import JointProblem, JointWindow, RegretConfig
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.view_frame import on_view_frame
from evcrisp.motion import MotionModel
from evcrisp.optimize import SolverResult
from evcrisp.search.local_refinement import at_collapse_bound
from evcrisp.search.search import SearchConfig, find_motion


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRegret(RegretConfig):
    """Minimize J over theta alone, with the best W for every theta; see :class:`RegretConfig`.

    The score of an event is the contrast map at its warped position. It is signal if W exceeds 1/2
    there. Events that the warp moves off the padded map are read on the unaligned map. Events of
    hot pixels do not enter the map, and are noise.

    Parameters
    ----------
    tol : float
        A descent ends if the predicted gain of its next step is below this, in units of b_ED.
    max_iter : int
        Maximum number of steps of each descent.
    search : SearchConfig
        Parameters of the search for the aligned motion, from which the descents start.

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
            raise ConfigError("must be above 0 and below 1", parameter="tol", value=self.tol)
        check_number("max_iter", self.max_iter, 1, whole=True)

    @on_view_frame
    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window."""
        joint = JointWindow.from_window(window, model, self)
        start = find_motion(joint.problem.data, theta0, self.search)
        if not start.status.has_evidence:
            return joint.build_estimate(self, start)
        end = self.descend(joint.problem, start.theta, start.inverse_hessian)
        return joint.build_estimate(self, replace(end, n_eval=start.n_eval + end.n_eval))

    def descend(
        self, problem: JointProblem, theta: Floats, curvature: Floats | None = None
    ) -> SolverResult:
        """Minimize the objective from an aligned motion; see :func:`minimize_joint`."""
        bound = self.search.max_log_area
        end = minimize_joint(
            problem, theta, curvature,
            tol=self.tol, max_iter=self.max_iter, max_log_area=bound,
        )  # fmt: skip
        if at_collapse_bound(problem.data, end.theta, bound):
            end = replace(end, status=Status.COLLAPSED)
        return end
