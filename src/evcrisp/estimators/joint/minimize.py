"""Minimize the joint objective over the motion, from one start or from several.

With the best W for every motion, the objective is a smooth function V of the motion alone, also
where both regrets are equal. If alignment has the larger regret, the minimum of V is next to the
aligned motion. Otherwise the aligned motion may be a maximum of V, with many minima around it, at
about the distance at which the contrast has dropped far enough. A single descent ends in any of
them, so several descents start at the aligned motion and around it.
"""

from dataclasses import replace

import numpy as np

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.estimators.joint.confidence_map import Confidence
from evcrisp.estimators.joint.problem import JointProblem
from evcrisp.optimize import SolverResult
from evcrisp.optimize.bfgs import Ascent, Bfgs
from evcrisp.search.collapse_penalty import MAX_LOG_AREA, CollapsePenalty
from evcrisp.search.local_refinement import window_scaling
from evcrisp.search.scaling import Scaling

#: Typical inverse of the second derivative of V / b_ED, px^2. Without an initial value, a gentle
#: slope would count as a minimum.
USUAL_CURVATURE = 20.0

#: A descent ends at steps below this displacement within the window, px. It is small because W
#: follows the map, which changes by more than its own value within 1 px at sharp edges.
TOL_STEP_PX = 1e-5

#: Longest step of a descent, px, and of the final step, after which V has no new gradient.
MAX_STEP_PX, MAX_FINAL_STEP_PX = 4.0, 0.01

#: A descent further than this from the aligned motion, px, has left its surroundings.
NEAR_PX = 1.0

#: Least and largest distance of the minima around an aligned motion that maximizes V, px.
VALLEY_PX = (1.0, 32.0)

#: Number of steps of each descent between two comparisons of all descents.
STEPS_PER_ROUND = 4

#: The optimistic value of a descent adds the larger of 3 times the predicted gain of the next step
#: and 1 times the gain of the last round.
PREDICTION_FACTOR, GAIN_FACTOR = 3.0, 1.0

#: Descents closer to each other than this, px, lead to the same minimum.
SAME_PX = 0.5


class NegatedObjective:
    """(b_EA - V) / b_ED as a function of scaled parameters, for solvers that maximize.

    The collapse penalty is subtracted; see :class:`CollapsePenalty`. With ``lam`` the mixture of both regrets
    replaces the larger one.
    """

    best: Confidence  # of the last evaluation, in buffers that the next one overwrites

    def __init__(
        self,
        problem: JointProblem,
        scaling: Scaling,
        lam: float | None = None,
        *,
        max_log_area: float = MAX_LOG_AREA,
    ) -> None:
        self.problem, self.scaling, self.lam = problem, scaling, lam
        data = problem.data
        self.collapse = CollapsePenalty.of(data.warp.model, data.resolution, max_log_area)
        self.n_eval = 0

    def __call__(self, scaled: Floats) -> tuple[float, Floats]:
        """Return value and gradient, shape (m,)."""
        unit = self.problem.terms.baseline_ed or 1.0
        best, gradient = self.problem.solve_with_gradient(self.scaling.theta(scaled), self.lam)
        penalty_slope = self.collapse.value_and_gradient(scaled)[1]
        return self._value_of(scaled, best), self.scaling.gradient(gradient) / -unit - penalty_slope

    def value(self, scaled: Floats) -> float:
        """Return the value alone, in half the time."""
        best = self.problem.solve_in_buffers(self.scaling.theta(scaled), self.lam)
        return self._value_of(scaled, best)

    def _value_of(self, scaled: Floats, best: Confidence) -> float:
        self.n_eval += 1
        self.best = best
        terms = self.problem.terms
        value = best.value if self.lam is None else best.mixture(self.lam)
        # Tolerances are relative to the value. Without b_EA it has the size of its changes.
        negated = (terms.baseline_ea - value) / (terms.baseline_ed or 1.0)
        return negated - self.collapse.value_and_gradient(scaled)[0]


def minimize_joint(
    problem: JointProblem,
    theta: Floats,
    curvature: Floats | None = None,
    *,
    tol: float = 1e-9,
    max_iter: int = 100,
    max_log_area: float = MAX_LOG_AREA,
) -> SolverResult:
    """Minimize V from an aligned motion ``theta``, shape (m,); the value of the result is V.

    ``curvature`` is the inverse Hessian of the log contrast at ``theta`` in scaled parameters, shape
    (m, m), from the search. For ``tol`` and ``max_iter`` see `ExactRegret`, for ``max_log_area`` see
    `CollapsePenalty`.
    """
    objective = NegatedObjective(problem, window_scaling(problem.data), max_log_area=max_log_area)
    solver = Bfgs(max_iter=max_iter, tol=tol, tol_step=TOL_STEP_PX, max_step=MAX_STEP_PX)
    center = objective.scaling.scaled(theta)
    first = _Descent(objective, solver, center)
    mean_square, lam = objective.best.f_ea + objective.best.mean**2, objective.best.lam
    starts = _valley_starts(objective, center, first.state) if lam > 0.0 else []
    if starts:
        others = [_Descent(objective, solver, start) for start in starts]
        return _final_step(_multi_start([*others, first]))
    if curvature is not None:
        # For lam = 0, V is nearly minus the contrast: a mean square minus a constant.
        matrix = curvature * (problem.terms.baseline_ed / mean_square)
        first.state = replace(first.state, inverse_hessian=matrix)
    while not first.is_done and np.linalg.norm(first.state.theta - center) < NEAR_PX:
        first.advance(1)
    if first.is_done:
        return _final_step(first)
    return _final_step(_multi_start([first, _Descent(objective, solver, np.zeros(center.size))]))


class _Descent:
    """A descent that can be paused after any step."""

    def __init__(self, objective: NegatedObjective, solver: Bfgs, start: Floats) -> None:
        self.objective, self.solver = objective, solver
        self.steps_left = solver.max_iter
        self.gain = np.inf  # of the last round
        curvature = USUAL_CURVATURE * np.eye(start.size)
        self.state = Ascent(start, *objective(start), curvature, 1, Status.MAX_ITER)

    @property
    def is_done(self) -> bool:
        return self.state.status is not Status.MAX_ITER or self.steps_left < 1

    @property
    def optimistic_value(self) -> float:
        """The value that the descent may reach."""
        state = self.state
        if self.is_done:
            return state.value
        predicted = float(state.gradient @ state.inverse_hessian @ state.gradient)
        return state.value + max(PREDICTION_FACTOR * predicted, GAIN_FACTOR * self.gain)

    def advance(self, n_steps: int) -> None:
        """Take up to ``n_steps`` more steps."""
        state = self.state

        def fun(scaled: Floats) -> tuple[float, Floats]:
            if np.array_equal(scaled, state.theta):
                return state.value, state.gradient
            return self.objective(scaled)

        n_steps = min(n_steps, self.steps_left)
        solver = replace(self.solver, max_iter=n_steps)
        self.state = solver.ascend(fun, state.theta, state.inverse_hessian)
        self.steps_left -= n_steps
        self.gain = self.state.value - state.value


def _multi_start(descents: list[_Descent]) -> _Descent:
    """Run all descents in rounds, drop dominated ones, return the best when all are done."""
    while True:
        descents = sorted(descents, key=lambda descent: -descent.state.value)
        best = descents[0]
        kept: list[_Descent] = []
        for descent in descents:
            offsets = [descent.state.theta - other.state.theta for other in kept]
            is_new = all(np.linalg.norm(offset) > SAME_PX for offset in offsets)
            if descent is best or (is_new and descent.optimistic_value > best.state.value):
                kept.append(descent)
        running = [descent for descent in kept if not descent.is_done]
        if not running:
            return best
        descents = kept
        for descent in running:
            descent.advance(STEPS_PER_ROUND)


def _valley_starts(objective: NegatedObjective, center: Floats, top: Ascent) -> list[Floats]:
    """Return starts around an aligned motion that maximizes V; none if it does not.

    The first lies in the direction of Adam's first steps, which change all parameters equally,
    against the gradient of the contrast. The second lies in the direction of steepest descent of
    V. The third is zero motion.
    """
    slope = objective.problem.contrast_gradient(objective.scaling.theta(center))
    signs = np.where(objective.scaling.gradient(slope) < 0.0, 1.0, -1.0)
    direction = signs / np.sqrt(center.size)
    radius, value = _best_radius(objective, center, direction)
    if radius < VALLEY_PX[0] or value < top.value:
        return []
    steepest = top.gradient / max(float(np.linalg.norm(top.gradient)), 1e-300)
    return [center + radius * direction, center + radius * steepest, np.zeros(center.size)]


def _best_radius(
    objective: NegatedObjective, center: Floats, direction: Floats
) -> tuple[float, float]:
    """Double or halve 2 px while the value rises; return the radius and the value there."""

    def value_at(radius: float) -> float:
        return objective.value(center + radius * direction)

    radius, factor = 2.0, 2.0
    value, next_value = value_at(radius), value_at(radius * factor)
    if next_value < value:
        factor = 0.5
        next_value = value_at(radius * factor)
    while next_value > value and VALLEY_PX[0] <= radius <= VALLEY_PX[1]:
        radius, value = radius * factor, next_value
        next_value = value_at(radius * factor)
    return radius, value


def _final_step(descent: _Descent) -> SolverResult:
    """Return the end of a descent, one step further if that is better."""
    objective, state = descent.objective, descent.state
    scaled = state.theta
    step = state.inverse_hessian @ state.gradient
    if state.status is Status.CONVERGED and float(np.linalg.norm(step)) < MAX_FINAL_STEP_PX:
        scaled = state.theta + step
    if objective.value(scaled) < state.value and scaled is not state.theta:
        scaled = state.theta
        objective.value(scaled)
    theta = objective.scaling.theta(scaled)
    return SolverResult(theta, objective.best.value, objective.n_eval, state.status)
