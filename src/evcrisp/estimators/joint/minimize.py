"""The lowest point of the joint objective: one descent from alignment, or a race of several.

With the best W for every motion, the objective is a smooth function V of the motion alone, also where both
regrets are equal. Where alignment has the larger regret, the minimum of V is next to the aligned
motion. Otherwise that motion may be a hilltop, with many minima around it at about the distance at
which contrast has fallen far enough, and a single descent ends in any of them. So several race: from
the hilltop itself, and from places around it.
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

#: Inverse of the second derivative of V / b_ED, px^2, that windows usually have. Without a guess
#: of it, a gentle slope would pass for a minimum.
USUAL_CURVATURE = 20.0

#: A descent ends when a step is shorter than this, px of displacement during the window. W follows the
#: map, which changes by more than its own height within a px at sharp edges.
TOL_STEP_PX = 1e-5

#: Longest step of a descent, and of its last one, which is not followed by another look at the slope.
MAX_STEP_PX, LAST_STEP_PX = 4.0, 0.01

#: A descent that is further from alignment than this, px, has left it.
NEAR_PX = 1.0

#: How near and how far the valley around a hilltop may be, px.
VALLEY_PX = (1.0, 32.0)

#: Steps between two looks at who leads the race.
ROUND = 4

#: A descent is given up if it cannot catch up even if it gains this many times what its next step
#: promises, or what it gained in the round before.
PROMISES, GAINS = 3.0, 1.0

#: Descents that come nearer to each other than this, px, are one.
SAME_PX = 0.5


class Height:
    """(b_EA - V) / b_ED as a function of scaled parameters, for solvers that maximize.

    A wall keeps models that could from shrinking the image to a few pixels; see :class:`CollapsePenalty`. With
    ``lam`` it is the mixture of both regrets instead of the larger one.

    Attributes
    ----------
    n_eval : int
        Evaluations so far.
    best : Confidence
        The best W of the last one; its arrays are overwritten by the next.
    """

    best: Confidence

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
        self.guard = CollapsePenalty.of(data.warp.model, data.resolution, max_log_area)
        self.n_eval = 0

    def __call__(self, scaled: Floats) -> tuple[float, Floats]:
        """Return the height and its gradient, shape (m,)."""
        unit = self.problem.terms.baseline_ed or 1.0
        best, gradient = self.problem.best_and_gradient(self.scaling.theta(scaled), self.lam)
        push = self.guard.value_and_gradient(scaled)[1]
        return self._of(scaled, best), self.scaling.gradient(gradient) / -unit - push

    def value(self, scaled: Floats) -> float:
        """Return the height alone, in half the time."""
        return self._of(scaled, self.problem.best(self.scaling.theta(scaled), self.lam))

    def _of(self, scaled: Floats, best: Confidence) -> float:
        self.n_eval += 1
        self.best = best
        terms = self.problem.terms
        value = best.value if self.lam is None else best.mixture(self.lam)
        # Without b_EA the height is of the size of its changes, to which tolerances are relative.
        height = (terms.baseline_ea - value) / (terms.baseline_ed or 1.0)
        return height - self.guard.value_and_gradient(scaled)[0]


def lowest(
    problem: JointProblem,
    theta: Floats,
    curvature: Floats | None = None,
    *,
    tol: float = 1e-9,
    max_iter: int = 100,
    max_log_area: float = MAX_LOG_AREA,
) -> SolverResult:
    """Return where V is lowest, as seen from an aligned motion; the result's value is V there.

    Parameters
    ----------
    problem : JointProblem
        What to minimize.
    theta : ndarray, shape (m,)
        The motion at which events are sharpest, or nearly so.
    curvature : ndarray, shape (m, m), optional
        Inverse curvature of the log of contrast there, in scaled parameters, as the search for that
        motion has learned it.
    tol : float
        A descent ends when its next step promises less than this, in units of b_ED. That step is
        done without another look.
    max_iter : int
        Most steps of a descent.
    max_log_area : float
        Bound on the change of log area; see `CollapsePenalty`.
    """
    height = Height(problem, window_scaling(problem.data), max_log_area=max_log_area)
    solver = Bfgs(max_iter=max_iter, tol=tol, tol_step=TOL_STEP_PX, max_step=MAX_STEP_PX)
    center = height.scaling.scaled(theta)
    first = _Descent(height, solver, center)
    square, lam = height.best.f_ea + height.best.mean**2, height.best.lam
    starts = _around(height, center, first.at) if lam > 0.0 else []
    if starts:
        others = [_Descent(height, solver, start) for start in starts]
        return _finished(_race([*others, first]))
    if curvature is not None:
        # Where alignment decides, V is nearly minus the contrast: a mean square less a constant.
        matrix = curvature * (problem.terms.baseline_ed / square)
        first.at = replace(first.at, inverse_hessian=matrix)
    while not first.is_over and _apart(first.at.theta, center) < NEAR_PX:
        first.go(1)
    if first.is_over:
        return _finished(first)
    return _finished(_race([first, _Descent(height, solver, np.zeros(center.size))]))


class _Descent:
    """A descent that stops after some steps and goes on later."""

    def __init__(self, height: Height, solver: Bfgs, start: Floats) -> None:
        self.height, self.solver = height, solver
        self.steps_left = solver.max_iter
        self.gain = np.inf  # of the last round
        curvature = USUAL_CURVATURE * np.eye(start.size)
        self.at = Ascent(start, *height(start), curvature, 1, Status.MAX_ITER)

    @property
    def is_over(self) -> bool:
        return self.at.status is not Status.MAX_ITER or self.steps_left < 1

    @property
    def hope(self) -> float:
        """The height that it may reach."""
        if self.is_over:
            return self.at.value
        promise = float(self.at.gradient @ self.at.inverse_hessian @ self.at.gradient)
        return self.at.value + max(PROMISES * promise, GAINS * self.gain)

    def go(self, n_steps: int) -> None:
        """Do some more steps."""
        here = self.at

        def fun(scaled: Floats) -> tuple[float, Floats]:
            if np.array_equal(scaled, here.theta):
                return here.value, here.gradient
            return self.height(scaled)

        n_steps = min(n_steps, self.steps_left)
        solver = replace(self.solver, max_iter=n_steps)
        self.at = solver.ascend(fun, here.theta, here.inverse_hessian)
        self.steps_left -= n_steps
        self.gain = self.at.value - here.value


def _race(descents: list[_Descent]) -> _Descent:
    """Let descents go on until the highest one has arrived; return it."""
    while True:
        descents = sorted(descents, key=lambda descent: -descent.at.value)
        best = descents[0]
        kept: list[_Descent] = []
        for descent in descents:
            is_new = all(_apart(descent.at.theta, other.at.theta) > SAME_PX for other in kept)
            if descent is best or (is_new and descent.hope > best.at.value):
                kept.append(descent)
        descents = kept
        running = [descent for descent in descents if not descent.is_over]
        if not running:
            return best
        for descent in running:
            descent.go(ROUND)


def _around(height: Height, center: Floats, top: Ascent) -> list[Floats]:
    """Return starts in the valley around a hilltop; none if there is no valley.

    One lies where Adam would go, whose first steps change all parameters by the same amount,
    against the slope of the contrast; one where V falls steepest; and one is no motion at all.
    """
    slope = height.problem.contrast_gradient(height.scaling.theta(center))
    signs = np.where(height.scaling.gradient(slope) < 0.0, 1.0, -1.0)
    away = signs / np.sqrt(center.size)
    radius, value = _best_radius(height, center, away)
    if radius < VALLEY_PX[0] or value < top.value:
        return []
    steepest = top.gradient / max(float(np.linalg.norm(top.gradient)), 1e-300)
    return [center + radius * away, center + radius * steepest, np.zeros(center.size)]


def _best_radius(height: Height, center: Floats, direction: Floats) -> tuple[float, float]:
    """Double or halve 2 px while that leads higher; return the distance and the height there."""

    def at(radius: float) -> float:
        return height.value(center + radius * direction)

    radius, factor = 2.0, 2.0
    here, there = at(radius), at(radius * factor)
    if there < here:
        factor = 0.5
        there = at(radius * factor)
    while there > here and VALLEY_PX[0] <= radius <= VALLEY_PX[1]:
        radius, here = radius * factor, there
        there = at(radius * factor)
    return radius, here


def _finished(end: _Descent) -> SolverResult:
    """Return the end of a descent, or where its last step leads if that is higher."""
    height, at, scaled = end.height, end.at, end.at.theta
    step = at.inverse_hessian @ at.gradient
    if at.status is Status.CONVERGED and float(np.linalg.norm(step)) < LAST_STEP_PX:
        scaled = at.theta + step
    if height.value(scaled) < at.value and scaled is not at.theta:
        scaled = at.theta
        height.value(scaled)
    theta = height.scaling.theta(scaled)
    return SolverResult(theta, height.best.value, height.n_eval, at.status)


def _apart(one: Floats, other: Floats) -> float:
    return float(np.linalg.norm(one - other))
