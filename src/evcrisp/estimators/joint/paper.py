"""The joint problem as the paper solves it: Adam on the motion and on every pixel of W."""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.joint.labels import JointWindow
from evcrisp.estimators.joint.problem import JointProblem, RegretConfig
from evcrisp.estimators.result import Estimate, Regret
from evcrisp.motion import MotionModel
from evcrisp.optimize import SolverResult
from evcrisp.search.local_refinement import at_collapse_bound, window_scaling
from evcrisp.search.scaling import Scaling
from evcrisp.search.search import SearchConfig, find_motion

#: How the length of the steps changes with the share of the steps done, 0 to 1.
DECAYS = {
    "constant": lambda done: 1.0,
    "cosine": lambda done: 0.5 * (1.0 + math.cos(math.pi * done)),
}

#: Decays of Adam's two averages.
_FIRST, _SECOND = 0.9, 0.999

#: Keeps Adam from dividing by zero. Slopes with respect to a pixel of W are about 1e-7, of which the
#: usual 1e-8 would be a part.
_FLOOR = 1e-16

#: Adam has arrived if J fell by less than this share of itself, b_EA aside, in the last tenth of the steps.
SETTLED = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRegret(RegretConfig):
    """Minimize J over theta and W together by Adam; see :class:`RegretConfig`.

    W starts at 1 and is clamped to 0..1 after each step. The larger regret is taken as it is, so
    that the gradient jumps where both are equal. The paper says nothing of rates and steps. Hot
    pixels have no part in it: their events add nothing to the map, and are noise.

    Parameters
    ----------
    n_steps : int
        Steps. The result is converged if the last tenth of them gained next to nothing.
    rate_px : float, px
        Length of the first steps of theta, as displacement during the window.
    rate_w : float
        Length of the first steps of W.
    decay : {"cosine", "constant"}
        How steps become shorter. With constant steps W keeps swinging by about ``rate_w / 10``.
    search : SearchConfig
        How the motion is found from which Adam starts.
    """

    name: ClassVar[str] = "paper"

    n_steps: int = 1000
    rate_px: float = 0.3
    rate_w: float = 0.05
    decay: str = "cosine"
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        RegretConfig.__post_init__(self)
        lookup(DECAYS, self.decay, "decay")
        if self.n_steps < 1:
            raise ConfigError(f"`n_steps` must be 1 or more; got {self.n_steps}.")
        for name in ("rate_px", "rate_w"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"`{name}` must be 0 or more; got {getattr(self, name)}.")

    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window."""
        joint = JointWindow.of(window, model, self)
        data = joint.problem.data
        start = find_motion(data, theta0, self.search)
        if not start.status.has_evidence:
            return joint.conclude(self, start)
        end = self.descend(joint.problem, start.theta)
        status = Status.CONVERGED if _has_settled(joint.problem, end) else Status.MAX_ITER
        if at_collapse_bound(data, end.theta, self.search.max_log_area):
            status = Status.COLLAPSED
        result = SolverResult(end.theta, end.regret.value, start.n_eval + self.n_steps, status)
        return joint.conclude(self, result, w_map=end.w_map, regret=end.regret)

    def descend(self, problem: JointProblem, theta: Floats) -> "Descent":
        """Return where the last step ended, and J before each step."""
        data = problem.data
        scaling = window_scaling(data)
        state = _State.at(scaling.scaled(theta), problem.contrast.shape(data.resolution))
        values = np.empty(self.n_steps)
        for k in range(self.n_steps):
            values[k] = self._step(problem, scaling, state, k)
        theta = scaling.theta(state.scaled)
        return Descent(theta, state.w_map, _regret(problem, theta, state.w_map), values)

    def _step(self, problem: JointProblem, scaling: Scaling, state: "_State", k: int) -> float:
        """Move theta and W by one step; return J before it."""
        from evcrisp.kernels.joint import adam as kernels

        theta = scaling.theta(state.scaled)
        iwe = problem.engine.build(theta)
        flat, w = iwe.ravel(), state.w_map.ravel()
        sums = kernels.joint_sums(flat, w, float(iwe.mean()))
        value, lam = _value(problem, sums)
        terms = problem.terms
        kernels.fill_joint_slope(flat, w, (sums[0], sums[2]), lam, terms.beta, state.slope.ravel())
        factor = DECAYS[self.decay](k / self.n_steps) / (1.0 - _FIRST ** (k + 1))
        unbias = 1.0 / math.sqrt(1.0 - _SECOND ** (k + 1))
        kernels.adam_step(
            flat,
            w,
            state.first_w,
            state.second_w,
            (terms.alpha, terms.beta, lam, sums[2]),
            (self.rate_w * factor, unbias, _FIRST, _SECOND, _FLOOR),
        )
        gradient = scaling.gradient(problem.pull_back(theta, state.slope))
        state.first[:] += (1.0 - _FIRST) * (gradient - state.first)
        state.second[:] += (1.0 - _SECOND) * (gradient**2 - state.second)
        state.scaled[:] -= (
            self.rate_px * factor * state.first / (np.sqrt(state.second) * unbias + _FLOOR)
        )
        return value


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Where Adam ended."""

    theta: Floats
    w_map: Floats
    regret: Regret
    values: Floats  # (n_steps,) J before each step


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Variables of Adam, updated in place."""

    scaled: Floats  # (m,)
    first: Floats
    second: Floats
    w_map: Floats  # (h, w)
    first_w: Floats  # (pixels,)
    second_w: Floats
    slope: Floats  # (h, w)

    @classmethod
    def at(cls, scaled: Floats, shape: tuple[int, int]) -> "_State":
        n = shape[0] * shape[1]
        zeros = np.zeros(scaled.size)
        return cls(
            scaled.copy(),
            zeros,
            zeros.copy(),
            np.ones(shape),
            np.zeros(n),
            np.zeros(n),
            np.empty(shape),
        )


def _has_settled(problem: JointProblem, end: Descent) -> bool:
    """Tell whether the last tenth of the steps gained next to nothing."""
    terms = problem.terms
    unit = max(abs(end.regret.value - terms.baseline_ea), terms.baseline_ed)
    gained = end.values[-max(end.values.size // 10, 1)] - end.regret.value
    return bool(abs(gained) <= SETTLED * unit)


def _value(problem: JointProblem, sums: tuple[float, ...]) -> tuple[float, float]:
    """Return J, and 1 if denoising has the larger regret, 0 otherwise."""
    terms = problem.terms
    regret_ea = terms.baseline_ea - sums[1]
    regret_ed = sums[3] - terms.baseline_ed
    penalty = terms.alpha * sums[4] + terms.beta * sums[5]
    return max(regret_ea, regret_ed) + penalty, float(regret_ed > regret_ea)


def _regret(problem: JointProblem, theta: Floats, w_map: Floats) -> Regret:
    """Return the numbers of the joint problem at any theta and W.

    Adam itself knows only which regret is the larger one, and where both are equal that changes from
    step to step. The multiplier is that of the best W at ``theta``.
    """
    from evcrisp.kernels.joint import adam as kernels

    best = problem.solve(theta)
    sums = kernels.joint_sums(best.iwe.ravel(), w_map.ravel(), best.mean)
    return replace(best.regret(), f_ed=sums[3], value=_value(problem, sums)[0])
