"""Solve the joint problem as the paper does: Adam on the motion and on every pixel of W."""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from evcrisp.core.registry import lookup
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.core.windows import Window
from evcrisp.estimators.joint.problem import JointProblem, JointWindow, RegretConfig
from evcrisp.estimators.result import Estimate, Regret
from evcrisp.estimators.view_frame import on_view_frame
from evcrisp.motion import MotionModel
from evcrisp.optimize import SolverResult
from evcrisp.search.local_refinement import at_collapse_bound, window_scaling
from evcrisp.search.scaling import Scaling
from evcrisp.search.search import SearchConfig, find_motion

#: Factor of the step length, given the share of steps done, 0 to 1.
DECAYS = {
    "constant": lambda done: 1.0,
    "cosine": lambda done: 0.5 * (1.0 + math.cos(math.pi * done)),
}

#: Decay rates of Adam's first and second moment; its authors' defaults.
_DECAY_1, _DECAY_2 = 0.9, 0.999

#: Avoids a division by zero. Gradients of single pixels of W are about 1e-7, so that the usual 1e-8
#: would shorten the steps.
_EPSILON = 1e-16

#: Adam has converged if the last tenth of the steps changed J - b_EA by less than this share.
MAX_FINAL_CHANGE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRegret(RegretConfig):
    """Minimize J over theta and W together by Adam; see :class:`RegretConfig`.

    W starts at 1 and is clamped to 0..1 after each step. The gradient is that of the larger regret,
    and jumps where both are equal. The paper states no step lengths and no number of steps. Events
    of hot pixels do not enter the map, and are noise.

    Parameters
    ----------
    n_steps : int
        Number of steps. The status is "converged" if J hardly changes in the last tenth of them.
    rate_px : float
        Length of the first steps of theta, as displacement within the window, px.
    rate_w : float
        Length of the first steps of W.
    decay : {"cosine", "constant"}
        How the steps become shorter. With constant steps W keeps oscillating by ``rate_w / 10``.
    search : SearchConfig
        Parameters of the search for the motion from which Adam starts.
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
        check_number("n_steps", self.n_steps, 1, whole=True)
        check_number("rate_px", self.rate_px, 0)
        check_number("rate_w", self.rate_w, 0)

    @on_view_frame
    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window."""
        joint = JointWindow.from_window(window, model, self)
        data = joint.problem.data
        start = find_motion(data, theta0, self.search)
        if not start.status.has_evidence:
            return joint.build_estimate(self, start)
        end = self.descend(joint.problem, start.theta)
        status = Status.CONVERGED if _has_converged(joint.problem, end) else Status.MAX_ITER
        if at_collapse_bound(data, end.theta, self.search.max_log_area):
            status = Status.COLLAPSED
        result = SolverResult(end.theta, end.regret.value, start.n_eval + self.n_steps, status)
        return joint.build_estimate(self, result, w_map=end.w_map, regret=end.regret)

    def descend(self, problem: JointProblem, theta: Floats) -> "AdamResult":
        """Run all steps of Adam from ``theta`` and W = 1."""
        data = problem.data
        scaling = window_scaling(data)
        state = _AdamState(scaling.scaled(theta), problem.contrast.shape(data.resolution))
        values = np.empty(self.n_steps)
        for k in range(self.n_steps):
            values[k] = self._step(problem, scaling, state, k)
        theta = scaling.theta(state.scaled)
        return AdamResult(theta, state.w_map, _regret(problem, theta, state.w_map), values)

    def _step(self, problem: JointProblem, scaling: Scaling, state: "_AdamState", k: int) -> float:
        """Update theta and W by one step; return J before it."""
        from evcrisp.kernels.joint import adam as kernels

        theta = scaling.theta(state.scaled)
        iwe = problem.engine.build(theta)
        flat, w = iwe.ravel(), state.w_map.ravel()
        sums = kernels.joint_sums(flat, w, float(iwe.mean()))
        value, lam = _value_and_multiplier(problem, sums)
        terms = problem.terms
        kernels.fill_joint_slope(flat, w, (sums[0], sums[2]), lam, terms.beta, state.slope.ravel())
        factor = DECAYS[self.decay](k / self.n_steps) / (1.0 - _DECAY_1 ** (k + 1))
        unbias = 1.0 / math.sqrt(1.0 - _DECAY_2 ** (k + 1))
        rates = (self.rate_w * factor, unbias, _DECAY_1, _DECAY_2, _EPSILON)
        constants = (terms.alpha, terms.beta, lam, sums[2])
        kernels.adam_step(flat, w, state.first_w, state.second_w, constants, rates)
        gradient = scaling.gradient(problem.pull_back(theta, state.slope))
        state.first[:] += (1.0 - _DECAY_1) * (gradient - state.first)
        state.second[:] += (1.0 - _DECAY_2) * (gradient**2 - state.second)
        scale = np.sqrt(state.second) * unbias + _EPSILON
        state.scaled[:] -= self.rate_px * factor * state.first / scale
        return value


@dataclass(frozen=True, slots=True, eq=False)
class AdamResult:
    """Last iterate of Adam, and the objective before each step."""

    theta: Floats
    w_map: Floats
    regret: Regret
    values: Floats  # (n_steps,)


class _AdamState:
    """Variables and moments of Adam, updated in place."""

    def __init__(self, scaled: Floats, shape: tuple[int, int]) -> None:
        self.scaled = scaled.copy()  # (m,)
        self.first, self.second = np.zeros(scaled.size), np.zeros(scaled.size)
        self.w_map, self.slope = np.ones(shape), np.empty(shape)
        self.first_w, self.second_w = np.zeros(self.w_map.size), np.zeros(self.w_map.size)


def _has_converged(problem: JointProblem, end: AdamResult) -> bool:
    """Return whether J hardly changed in the last tenth of the steps."""
    terms = problem.terms
    unit = max(abs(end.regret.value - terms.baseline_ea), terms.baseline_ed)
    change = end.values[-max(end.values.size // 10, 1)] - end.regret.value
    return bool(abs(change) <= MAX_FINAL_CHANGE * unit)


def _value_and_multiplier(problem: JointProblem, sums: tuple[float, ...]) -> tuple[float, float]:
    """Return J, and lam: 1 if denoising has the larger regret, 0 otherwise."""
    terms = problem.terms
    regret_ea = terms.baseline_ea - sums[1]
    regret_ed = sums[3] - terms.baseline_ed
    penalty = terms.alpha * sums[4] + terms.beta * sums[5]
    return max(regret_ea, regret_ed) + penalty, float(regret_ed > regret_ea)


def _regret(problem: JointProblem, theta: Floats, w_map: Floats) -> Regret:
    """Return the terms at any theta and W, with lam of the best W; that of Adam alternates."""
    from evcrisp.kernels.joint import adam as kernels

    best = problem.solve(theta)
    sums = kernels.joint_sums(best.iwe.ravel(), w_map.ravel(), best.mean)
    return replace(best.regret(), f_ed=sums[3], value=_value_and_multiplier(problem, sums)[0])
