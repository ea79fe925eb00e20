r"""The whole trade-off between alignment and denoising, of which the regret selects one point.

The bare pair (f_EA, f_ED) has no trade-off: W = 0 makes f_ED = 0 for every motion, at no cost in
f_EA. What the joint objective weighs against each other are the penalized costs

.. math:: c_{EA} = r - f_{EA}, \qquad c_{ED} = r + f_{ED}, \qquad
          r = \alpha \|W\|_1 + \beta \|W \circ M - M\|^2,

because :math:`J = \max(b_{EA} + c_{EA},\ c_{ED} - b_{ED})`: its minimum for any baselines is a Pareto
optimum of this pair, and every Pareto optimum is its minimum for some.
"""

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.estimate import as_window, checked_theta, model_for
from evcrisp.estimators.joint.confidence_map import Confidence
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.labels import KEEP_ABOVE, JointWindow
from evcrisp.estimators.joint.minimize import USUAL_CURVATURE, Height
from evcrisp.estimators.joint.problem import JointProblem
from evcrisp.motion import MotionModel
from evcrisp.optimize import Function
from evcrisp.optimize.bfgs import Bfgs
from evcrisp.search.local_refinement import window_scaling
from evcrisp.search.search import find_motion

#: A problem, and the multiplier of its mixture; None for the regret itself.
Scalarization = tuple[JointProblem, float | None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParetoPoint:
    """One compromise: a motion, and the confidence map that is best for it at ``lam``."""

    theta: Floats  # (m,)
    lam: float  # weight of denoising, 0..1
    f_ea: float
    f_ed: float
    penalty: float
    signal: NDArray[np.bool_]  # (n,)

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
    """Non-dominated compromises, from the best alignment to the best denoising.

    Attributes
    ----------
    points : tuple of ParetoPoint
        Sorted: ``cost_ea`` rises, ``cost_ed`` falls.
    regret_index : int
        Which point the regret with the configured baselines selects.
    ideal : (float, float)
        The best ``cost_ea`` and the best ``cost_ed``, which no point has together.
    nadir : (float, float)
        The ``cost_ea`` of the best denoising, and the ``cost_ed`` of the best alignment.
    problem : JointProblem
        What was solved.
    status : Status
        How the search for the aligned motion ended; without a motion there is one point.
    config : ExactRegret
        What was asked for.
    """

    points: tuple[ParetoPoint, ...]
    regret_index: int
    ideal: tuple[float, float]
    nadir: tuple[float, float]
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
        """Return what notebooks show: the facts, the front, and the confidence map of the regret."""
        from evcrisp.core.notebook_html import dots, html_card, shades

        chosen, first, last = self.regret, self.points[0], self.points[-1]
        facts: list[tuple[str, str]] = [
            ("points", f"{len(self)}, the regret selects {self.regret_index}"),
            ("theta there", ", ".join(f"{value:.4g}" for value in chosen.theta)),
            ("signal there", f"{int(chosen.signal.sum()):,} of {chosen.signal.size:,} events"),
            ("f_EA", f"{first.f_ea:.4g} to {last.f_ea:.4g}, there {chosen.f_ea:.4g}"),
            ("f_ED", f"{first.f_ed:.4g} to {last.f_ed:.4g}, there {chosen.f_ed:.4g}"),
            ("status", self.status.value),
        ]
        is_chosen = np.arange(len(self)) == self.regret_index
        front = dots(self.column("cost_ea"), self.column("cost_ed"), is_chosen)
        caption = "cost of denoising over that of alignment; red: the regret"
        pictures = [(caption, front), ("confidence W there", shades(self.w_map(self.regret_index)))]
        return html_card("ParetoFront", facts, pictures)

    @property
    def regret(self) -> ParetoPoint:
        """The point that the regret selects."""
        return self.points[self.regret_index]

    def column(self, name: str) -> Floats:
        """Return one number of every point, such as "f_ea", shape (len(self),)."""
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
    """Return the trade-off between alignment and denoising of one window.

    A third of the points comes from mixtures ``(1 - lam) c_EA + lam c_ED``; they lie on the convex
    parts of the front. The others are solutions of the regret for other b_EA, which reach what
    lies between. Dominated points are dropped.

    Parameters
    ----------
    events : Events or Window
        The window.
    motion : str or MotionModel
        Name of a motion model, or an object.
    config : ExactRegret, optional
        Parameters of the joint objective.
    camera : Camera, optional
        As for :func:`evcrisp.estimate`, if the model is given by name.
    theta0 : array_like, shape (m,), optional
        Where to look for the aligned motion first.
    n_points : int
        How many points are looked for, 3 or more.
    max_drift_px : float, px
        How far motions may be from the aligned one. Denoising alone has no better motion than one
        that moves all events off the map.
    on_share : callable, optional
        Called with the share of the work that is done, 0 to 1, for progress.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(duration_us=20_000, resolution=(64, 48), noise_hz=5.0, seed=1)
    >>> front = pareto_front(evcrisp.Window(scene.events, 0, 20_000), scene.motion, n_points=6)
    >>> bool((np.diff(front.column("cost_ed")) < 0).all())
    True
    """
    config = ExactRegret() if config is None else config
    if not isinstance(n_points, numbers.Integral) or n_points < 3:
        raise ConfigError(f"`n_points` must be a whole number, 3 or more; got {n_points}.")
    if not 0.0 < max_drift_px < np.inf:
        raise ConfigError(f"`max_drift_px` must be positive; got {max_drift_px}.")
    window = as_window(events)
    model = model_for(motion, window.events.resolution, camera)
    joint = JointWindow.of(window, model, config)
    problem = joint.problem
    start = find_motion(problem.data, checked_theta(theta0, model), config.search)
    tracer = _Tracer(problem, config, max_drift_px, on_share or (lambda share: None))
    if not start.status.has_evidence:
        tracer.keep((problem, None), [start.theta])
    else:
        tracer.trace(start.theta, n_points)
    return _front(tracer, joint, start.status)


class _Tracer:
    """Solves one scalarization after the other, each from the solution of its neighbor."""

    def __init__(
        self,
        problem: JointProblem,
        config: ExactRegret,
        max_drift_px: float,
        on_share: Callable[[float], None],
    ) -> None:
        self.on_share = on_share
        self.n_solved = self.n_to_solve = 0
        self.problem = problem
        self.config = config
        self.radius = max_drift_px
        self.solver = Bfgs(max_iter=config.max_iter, tol=1e-8, tol_step=1e-3, max_step=4.0)
        self.thetas: list[Floats] = []
        self.found: list[Confidence] = []

    def trace(self, theta: Floats, n_points: int) -> None:
        """Find points around an aligned motion; the last one solves the regret as configured."""
        self.scaling = window_scaling(self.problem.data)
        self.center = self.scaling.scaled(theta)
        # Every point from two sides, and the regret from three starts.
        self.n_to_solve = 2 * n_points + 3
        n_mixtures = max(n_points // 3, 2)
        lams = np.linspace(0.0, 1.0, n_mixtures)
        self._both_ways([(self.problem, float(lam)) for lam in lams])
        self._both_ways(self._other_baselines(n_points - n_mixtures))
        starts = sorted(self.thetas, key=lambda theta: self.problem.solve(theta).value)[:2]
        plain = (self.problem, None)
        ends = [self._solved(plain, start) for start in starts]
        free = self.config.descend(self.problem, theta).theta
        if float(np.linalg.norm(self.scaling.scaled(free) - self.center)) <= self.radius:
            ends = [free, *ends]
        self.keep(plain, ends)
        self.on_share(1.0)

    def keep(self, which: Scalarization, thetas: Sequence[Floats]) -> None:
        """Add the best of some motions for one scalarization."""
        problem, lam = which
        bests = [problem.solve(theta, lam) for theta in thetas]
        costs = [best.value if lam is None else best.mixture(lam) for best in bests]
        k = int(np.argmin(costs))
        self.thetas.append(thetas[k])
        self.found.append(bests[k])

    def _other_baselines(self, n: int) -> list[Scalarization]:
        """Return the regret with b_EA between those that select the ends of what was found."""
        terms = self.problem.terms
        balanced = [best.f_ea + best.f_ed - terms.baseline_ed for best in self.found]
        values = np.linspace(max(balanced), min(balanced), n + 2)[1:-1]
        return [
            (replace(self.problem, terms=replace(terms, baseline_ea=float(value))), None)
            for value in values
        ]

    def _both_ways(self, whiches: Sequence[Scalarization]) -> None:
        """Go from alignment to denoising, then back, and keep the better of both for each.

        The aligned motion is a stationary point of every mixture, where a descent would stay. The
        way back therefore begins without alignment: half the way to the bound, towards no motion.
        """
        up = self._chain(whiches, self.center)
        away = -self.center if self.center.any() else np.ones(self.center.size)
        away *= 0.5 * self.radius / np.sqrt(away @ away)
        down = self._chain(whiches[::-1], self.center + away)[::-1]
        for which, *ends in zip(whiches, up, down, strict=True):
            self.keep(which, ends)

    def _chain(self, whiches: Sequence[Scalarization], scaled: Floats) -> list[Floats]:
        thetas = [self.scaling.theta(scaled)]
        for which in whiches:
            thetas.append(self._solved(which, thetas[-1]))
        return thetas[1:]

    def _solved(self, which: Scalarization, theta: Floats) -> Floats:
        problem, lam = which
        start = self._free(self.scaling.scaled(theta))
        bound = self.config.search.max_log_area
        fun = self._inside(Height(problem, self.scaling, lam, max_log_area=bound))
        end = self.solver.ascend(fun, start, USUAL_CURVATURE * np.eye(start.size))
        self.n_solved += 1
        self.on_share(self.n_solved / self.n_to_solve)
        return self.scaling.theta(self._bounded(end.theta))

    def _bounded(self, free: Floats) -> Floats:
        """Map all numbers onto the ball around the aligned motion."""
        return self.center + free / np.sqrt(1.0 + free @ free / self.radius**2)

    def _free(self, scaled: Floats) -> Floats:
        """Undo `_bounded`; from the border back to about twice the radius."""
        offset = scaled - self.center
        share = min(float(offset @ offset) / self.radius**2, 0.8)
        return offset / np.sqrt(1.0 - share)

    def _inside(self, fun: Function) -> Function:
        """Return a function of numbers without bounds."""

        def bounded(free: Floats) -> tuple[float, Floats | None]:
            value, gradient = fun(self._bounded(free))
            if gradient is None:
                return value, None
            square = free @ free + self.radius**2
            shrink = self.radius / np.sqrt(square)
            return value, shrink * (gradient - free * (free @ gradient) / square)

        return bounded


def _front(tracer: _Tracer, joint: JointWindow, status: Status) -> ParetoFront:
    """Drop dominated points."""
    problem, terms = tracer.problem, tracer.problem.terms
    costs = np.array([(b.penalty - b.f_ea, b.penalty + b.f_ed) for b in tracer.found])
    kept = non_dominated(costs, 1e-6 * terms.baseline_ed)
    worst = np.maximum(terms.baseline_ea + costs[kept, 0], costs[kept, 1] - terms.baseline_ed)
    points = tuple(_point(joint, tracer.thetas[k], tracer.found[k]) for k in kept)
    return ParetoFront(
        points=points,
        regret_index=int(np.argmin(worst)),
        ideal=(points[0].cost_ea, points[-1].cost_ed),
        nadir=(points[-1].cost_ea, points[0].cost_ed),
        problem=problem,
        status=status,
        config=tracer.config,
    )


def _point(joint: JointWindow, theta: Floats, best: Confidence) -> ParetoPoint:
    readings = joint.read(theta, best.w_map(), best)
    return ParetoPoint(
        theta=theta,
        lam=best.lam,
        f_ea=best.f_ea,
        f_ed=best.f_ed,
        penalty=best.penalty,
        signal=readings.confidence > KEEP_ABOVE,
    )


def non_dominated(costs: Floats, tol: float = 0.0) -> list[int]:
    """Return the rows of pairs of costs that no other row beats in both, by rising first cost.

    A row counts as beaten if its second cost is better by ``tol`` or less.

    Examples
    --------
    >>> non_dominated(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 4.0], [3.0, 1.0], [3.0, 2.0]]))
    [0, 1, 3]
    """
    kept: list[int] = []
    for k in np.lexsort((costs[:, 1], costs[:, 0])):
        if not kept or costs[k, 1] < costs[kept[-1], 1] - tol:
            kept.append(int(k))
    return kept
