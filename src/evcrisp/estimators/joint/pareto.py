r"""Pareto front of alignment and denoising, of which the regret selects one point.

The plain pair (f_EA, f_ED) has no trade-off: W = 0 makes f_ED = 0 for every motion, without a loss
of f_EA. The joint objective compares the penalized costs

.. math:: c_{EA} = r - f_{EA}, \qquad c_{ED} = r + f_{ED}, \qquad
          r = \alpha \|W\|_1 + \beta \|W \circ M - M\|^2,

because :math:`J = \max(b_{EA} + c_{EA},\ c_{ED} - b_{ED})`. Its minimum for any baselines is a
Pareto optimum of this pair, and every Pareto optimum is its minimum for some baselines. Unless
baselines are given, they are the ideal point, the best value of each cost: then both regrets are
positive between the ends of the front, and the larger one is smallest at a compromise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats
from evcrisp.core.validation import check_number
from evcrisp.core.windows import Window
from evcrisp.estimators.estimate import as_window, checked_theta, model_for
from evcrisp.estimators.joint.confidence_map import Confidence
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.minimize import USUAL_CURVATURE, NegatedObjective
from evcrisp.estimators.joint.problem import MIN_CONFIDENCE, JointProblem, JointWindow
from evcrisp.motion import MotionModel
from evcrisp.optimize import Function
from evcrisp.optimize.bfgs import Bfgs
from evcrisp.search.local_refinement import window_scaling
from evcrisp.search.search import find_motion

#: Weight of fidelity in fronts. With 0.5, the default of the estimators, W is below 1/2 at the
#: compromise of most windows, so that no event would be kept there.
FRONT_BETA_HAT = 1.0

#: A problem, and the multiplier lam of its mixture; None for the larger regret.
Scalarization = tuple[JointProblem, float | None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParetoPoint:
    """One solution: a motion, with the best confidence map at ``lam``."""

    theta: Floats  # (m,)
    lam: float  # weight of denoising, 0..1
    f_ea: float
    f_ed: float
    penalty: float
    signal: Bools  # (n,)

    @property
    def cost_ea(self) -> float:
        """Penalized cost of alignment; smaller is better."""
        return self.penalty - self.f_ea

    @property
    def cost_ed(self) -> float:
        """Penalized cost of denoising; smaller is better."""
        return self.penalty + self.f_ed


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParetoFront:
    """Non-dominated solutions, from the best alignment to the best denoising.

    Attributes
    ----------
    points : tuple of ParetoPoint
        Sorted: ``cost_ea`` rises, ``cost_ed`` falls.
    regret_index : int
        Index of the point whose larger regret is smallest.
    ideal, nadir : (float, float)
        Lowest ``cost_ea`` and lowest ``cost_ed``, which no point has both; ``cost_ea`` of the best
        denoising and the ``cost_ed`` of the best alignment.
    baseline : (float, float)
        Costs from which the regrets are counted: the ideal point, or ``(-b_EA, b_ED)`` if the
        configuration states b_EA.
    problem, config : JointProblem, ExactRegret
        The joint problem of the window, whose baselines select the same point, and the parameters
        of its objective.
    status : Status
        How the search for the aligned motion ended. Without a motion the front is one point.
    """

    points: tuple[ParetoPoint, ...]
    regret_index: int
    ideal: tuple[float, float]
    nadir: tuple[float, float]
    baseline: tuple[float, float]
    problem: JointProblem
    status: Status
    config: ExactRegret

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        first, last = self.points[0], self.points[-1]
        return (
            f"ParetoFront({len(self)} points; f_EA {first.f_ea:.4g}..{last.f_ea:.4g}, "
            f"f_ED {first.f_ed:.4g}..{last.f_ed:.4g}; regret at {self.regret_index})"
        )

    def _repr_html_(self) -> str:
        """Return the card that notebooks show: facts, front, and the W of the selected point."""
        from evcrisp.core.notebook_html import dots, html_card, shades

        chosen, first, last = self.regret, self.points[0], self.points[-1]
        facts: list[tuple[str, str]] = [
            ("points", f"{len(self)}; the regret selects {self.regret_index}"),
            ("theta", ", ".join(f"{value:.4g}" for value in chosen.theta)),
            ("signal", f"{int(chosen.signal.sum()):,} of {chosen.signal.size:,} events"),
            ("f_EA", f"{first.f_ea:.4g} to {last.f_ea:.4g}; selected {chosen.f_ea:.4g}"),
            ("f_ED", f"{first.f_ed:.4g} to {last.f_ed:.4g}; selected {chosen.f_ed:.4g}"),
            ("status", self.status.value),
        ]
        is_chosen = np.arange(len(self)) == self.regret_index
        front = dots(self.column("cost_ea"), self.column("cost_ed"), is_chosen)
        caption = "cost of denoising over cost of alignment; red: selected by the regret"
        pictures = [(caption, front), ("confidence W", shades(self.w_map(self.regret_index)))]
        return html_card("ParetoFront", facts, pictures)

    @property
    def regret(self) -> ParetoPoint:
        """The point that the regret selects."""
        return self.points[self.regret_index]

    @property
    def regrets(self) -> Floats:
        """Regrets of alignment and of denoising at every point, penalty included, (len(self), 2)."""
        costs = np.column_stack((self.column("cost_ea"), self.column("cost_ed")))
        return costs - np.array(self.baseline)

    @property
    def is_compromise(self) -> bool:
        """Whether the selected point lies between the ends, where both regrets matter."""
        return 0 < self.regret_index < len(self) - 1

    def column(self, name: str) -> Floats:
        """Return one field of every point, such as "f_ea", shape (len(self),)."""
        return np.array([getattr(point, name) for point in self.points])

    def w_map(self, index: int) -> Floats:
        """Return the confidence map of a point, shape of the contrast map."""
        point = self.points[index]
        return self.problem.solve(point.theta, point.lam).w_map()


def pareto_front(
    events: Events | Window,
    motion: str | MotionModel = "translation",
    config: ExactRegret | None = None,
    *,
    camera: Camera | None = None,
    theta0: ArrayLike | None = None,
    n_points: int = 25,
    max_drift_px: float = 24.0,
    on_share: Callable[[float], None] | None = None,
) -> ParetoFront:
    """Compute the Pareto front of alignment and denoising of one window.

    A third of the points minimizes mixtures ``(1 - lam) c_EA + lam c_ED``, on the convex parts of
    the front. The other points minimize the regret with other b_EA, and lie also between these
    parts. Dominated points are dropped. The last point minimizes the larger of both regrets, which
    are counted from the ideal point, or from the baselines of ``config`` if it states b_EA.

    Parameters
    ----------
    events : Events or Window
        The window.
    motion : str or MotionModel
        Name of a motion model, or an object.
    config : ExactRegret, optional
        Parameters of the joint objective; by default ``ExactRegret(beta_hat=1.0)``. With ``b_ea`` or
        ``b_hat``, the selected point is that of the method "exact" with these parameters.
    camera : Camera, optional
        Calibration for a motion model that is given by name; see :func:`evcrisp.estimate`.
    theta0 : array_like, shape (m,), optional
        Start of the search for the aligned motion.
    n_points : int
        Number of points to solve for, 3 or more.
    max_drift_px : float, px
        Largest distance from the aligned motion; the best denoising would empty the map.
    on_share : callable, optional
        Progress callback, called with the share of the work that is done, 0 to 1.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(duration_us=20_000, resolution=(64, 48), noise_hz=5.0, seed=1)
    >>> front = pareto_front(evcrisp.Window(scene.events, 0, 20_000), scene.motion, n_points=6)
    >>> bool((np.diff(front.column("cost_ed")) < 0).all())
    True
    >>> front.is_compromise, bool((front.regrets[front.regret_index] > 0).all())
    (True, True)
    """
    config = front_config() if config is None else config
    check_number("n_points", n_points, 3, whole=True)
    check_number("max_drift_px", max_drift_px, 0, open_low=True)
    window = as_window(events)
    model = model_for(motion, window.events.resolution, camera)
    joint = JointWindow.from_window(window, model, config)
    start = find_motion(joint.problem.data, checked_theta(theta0, model), config.search)
    tracer = _FrontTracer(joint.problem, config, max_drift_px, on_share or (lambda share: None))
    if start.status.has_evidence:
        tracer.trace(start.theta, n_points)
    else:
        tracer.add_best((joint.problem, None), [start.theta])
    return _build_front(tracer, joint, start.status)


class _FrontTracer:
    """Solves one scalarization after the other, each from the solution of its neighbor."""

    def __init__(
        self,
        problem: JointProblem,
        config: ExactRegret,
        max_drift_px: float,
        on_share: Callable[[float], None],
    ) -> None:
        self.problem, self.config = problem, config
        self.radius, self.on_share = max_drift_px, on_share
        self.n_solved = self.n_to_solve = 0
        self.solver = Bfgs(max_iter=config.max_iter, tol=1e-8, tol_step=1e-3, max_step=4.0)
        self.thetas: list[Floats] = []
        self.found: list[Confidence] = []

    def trace(self, theta: Floats, n_points: int) -> None:
        """Find points around an aligned motion; the last one solves the configured regret."""
        self.scaling = window_scaling(self.problem.data)
        self.center = self.scaling.scaled(theta)
        # Every point from two sides, and the regret from three starts.
        self.n_to_solve = 2 * n_points + 3
        n_mixtures = max(n_points // 3, 2)
        lams = np.linspace(0.0, 1.0, n_mixtures)
        self._solve_both_ways([(self.problem, float(lam)) for lam in lams])
        self._solve_both_ways(self._other_baselines(n_points - n_mixtures))
        if not _has_baseline(self.config):
            self.problem = self._with_baseline_ea(self._ideal_baseline_ea())
        starts = sorted(self.thetas, key=lambda theta: self.problem.solve(theta).value)[:2]
        regret = (self.problem, None)
        ends = [self._solve(regret, start) for start in starts]
        unbounded = self.config.descend(self.problem, theta).theta
        if float(np.linalg.norm(self.scaling.scaled(unbounded) - self.center)) <= self.radius:
            ends = [unbounded, *ends]
        self.add_best(regret, ends)
        self.on_share(1.0)

    def add_best(self, scalarization: Scalarization, thetas: Sequence[Floats]) -> None:
        """Add the motion with the lowest value of one scalarization."""
        problem, lam = scalarization
        bests = [problem.solve(theta, lam) for theta in thetas]
        costs = [best.value if lam is None else best.mixture(lam) for best in bests]
        k = int(np.argmin(costs))
        self.thetas.append(thetas[k])
        self.found.append(bests[k])

    def _other_baselines(self, n: int) -> list[Scalarization]:
        """Return ``n`` regrets with b_EA between the values that select the ends of the front."""
        terms = self.problem.terms
        balanced = [best.f_ea + best.f_ed - terms.baseline_ed for best in self.found]
        values = np.linspace(max(balanced), min(balanced), n + 2)[1:-1]
        return [(self._with_baseline_ea(float(value)), None) for value in values]

    def _with_baseline_ea(self, value: float) -> JointProblem:
        return replace(self.problem, terms=replace(self.problem.terms, baseline_ea=value))

    def _ideal_baseline_ea(self) -> float:
        """Return the b_EA that, with the paper's b_ED, selects the same point as the ideal point.

        Only the sum of both baselines matters for the point that is selected.
        """
        ideal_ea, ideal_ed = self.costs().min(axis=0)
        return float(ideal_ed - ideal_ea) - self.problem.terms.baseline_ed

    def costs(self) -> Floats:
        """Return the costs of all points so far, shape (n, 2)."""
        return np.array([(b.penalty - b.f_ea, b.penalty + b.f_ed) for b in self.found])

    def _solve_both_ways(self, scalarizations: Sequence[Scalarization]) -> None:
        """Solve from alignment to denoising, then back; add the better solution of each."""
        forward = self._solve_chain(scalarizations, self.center)
        # A descent would not leave the aligned motion, a stationary point of every mixture. The
        # second chain therefore starts at half the radius from it, towards zero motion.
        away = -self.center if self.center.any() else np.ones(self.center.size)
        away *= 0.5 * self.radius / np.sqrt(away @ away)
        backward = self._solve_chain(scalarizations[::-1], self.center + away)[::-1]
        for scalarization, *ends in zip(scalarizations, forward, backward, strict=True):
            self.add_best(scalarization, ends)

    def _solve_chain(self, scalarizations: Sequence[Scalarization], scaled: Floats) -> list[Floats]:
        thetas = [self.scaling.theta(scaled)]
        for scalarization in scalarizations:
            thetas.append(self._solve(scalarization, thetas[-1]))
        return thetas[1:]

    def _solve(self, scalarization: Scalarization, theta: Floats) -> Floats:
        problem, lam = scalarization
        start = self._unbounded(self.scaling.scaled(theta))
        bound = self.config.search.max_log_area
        objective = NegatedObjective(problem, self.scaling, lam, max_log_area=bound)
        curvature = USUAL_CURVATURE * np.eye(start.size)
        end = self.solver.ascend(self._in_ball(objective), start, curvature)
        self.n_solved += 1
        self.on_share(self.n_solved / self.n_to_solve)
        return self.scaling.theta(self._bounded(end.theta))

    def _bounded(self, free: Floats) -> Floats:
        """Map unbounded parameters into the ball around the aligned motion."""
        return self.center + free / np.sqrt(1.0 + free @ free / self.radius**2)

    def _unbounded(self, scaled: Floats) -> Floats:
        """Invert `_bounded`; the border maps to about twice the radius."""
        offset = scaled - self.center
        share = min(float(offset @ offset) / self.radius**2, 0.8)
        return offset / np.sqrt(1.0 - share)

    def _in_ball(self, objective: NegatedObjective) -> Function:
        """Return the objective as a function of unbounded parameters."""

        def fun(free: Floats) -> tuple[float, Floats]:
            value, gradient = objective(self._bounded(free))
            square = free @ free + self.radius**2
            shrink = self.radius / np.sqrt(square)
            return value, shrink * (gradient - free * (free @ gradient) / square)

        return fun


def _build_front(tracer: _FrontTracer, joint: JointWindow, status: Status) -> ParetoFront:
    """Return the front without dominated points."""
    terms, costs = tracer.problem.terms, tracer.costs()
    kept = non_dominated(costs, 1e-6 * terms.baseline_ed)
    points = tuple(_point(joint, tracer.thetas[k], tracer.found[k]) for k in kept)
    ideal = (points[0].cost_ea, points[-1].cost_ed)
    is_given = _has_baseline(tracer.config)
    baseline = (-terms.baseline_ea, terms.baseline_ed) if is_given else ideal
    regrets = (costs[kept] - np.array(baseline)).max(axis=1)
    return ParetoFront(
        points=points, regret_index=int(np.argmin(regrets)),
        ideal=ideal, nadir=(points[-1].cost_ea, points[0].cost_ed), baseline=baseline,
        problem=tracer.problem, status=status, config=tracer.config,
    )  # fmt: skip


def front_config(**params: Any) -> ExactRegret:
    """Return the parameters of a front: those given, and the defaults of fronts.

    >>> front_config(min_support=4.0).resolved()
    {'min_support': 4.0, 'beta_hat': 1.0, 'b_hat': 1000.0}
    """
    given = {} if {"beta", "beta_hat"} & set(params) else {"beta_hat": FRONT_BETA_HAT}
    return build({"exact": ExactRegret}, "exact", "method", **given, **params)


def _has_baseline(config: ExactRegret) -> bool:
    return config.b_ea is not None or config.b_hat is not None


def _point(joint: JointWindow, theta: Floats, best: Confidence) -> ParetoPoint:
    _, confidence = joint.read_maps(theta, best.w_map(), best)
    return ParetoPoint(
        theta=theta, lam=best.lam, f_ea=best.f_ea, f_ed=best.f_ed, penalty=best.penalty,
        signal=confidence > MIN_CONFIDENCE,
    )  # fmt: skip


def non_dominated(costs: Floats, tol: float = 0.0) -> list[int]:
    """Return the non-dominated rows of pairs of costs, sorted by the first cost.

    A row is dropped too if its second cost is lower by ``tol`` or less.

    >>> non_dominated(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 4.0], [3.0, 1.0], [3.0, 2.0]]))
    [0, 1, 3]
    """
    kept: list[int] = []
    for k in np.lexsort((costs[:, 1], costs[:, 0])):
        if not kept or costs[k, 1] < costs[kept[-1], 1] - tol:
            kept.append(int(k))
    return kept
