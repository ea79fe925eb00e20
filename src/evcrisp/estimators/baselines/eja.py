"""Event joint alignment: alternate between alignment and a ranking of the events."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.core.registry import lookup
from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats
from evcrisp.core.validation import check_choice, check_number
from evcrisp.core.windows import Window
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.result import Estimate, estimate_from_solver
from evcrisp.estimators.view_frame import on_view_frame
from evcrisp.motion import MotionModel
from evcrisp.objectives import OBJECTIVES
from evcrisp.optimize import AdamState, Bfgs, SolverResult
from evcrisp.search.alignment import Alignment
from evcrisp.search.local_refinement import (
    at_collapse_bound,
    refine,
    scaled_function,
    window_scaling,
)
from evcrisp.search.search import SearchConfig, find_motion, result_without_evidence
from evcrisp.search.window_data import WindowData

INNER = ("adam-1", "bfgs")
SCORES_FROM = ("all", "signal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Eja:
    """Alternate between a step of alignment and a ranking of the events by contrast.

    ::

        repeat:  one ascent step of theta on the contrast of the signal events
                 contrast map of all events at theta, read at every event
                 label the share ``tau`` of the events with the largest values as signal

    Written after descriptions of the method; its own solver is not public. Events that the warp
    moves off the padded map have no value, and keep their label. Of equal values, the earlier
    events are signal. Hot pixels are excluded from the alignment.

    Parameters
    ----------
    tau : float
        Share of signal events, above 0 to 1: one minus the share of noise, which must be known.
    objective : str
        Measure of sharpness, one of the keys of ``evcrisp.objectives.OBJECTIVES``.
    contrast : ContrastMap
        The map for the alignment and for the ranking.
    inner : {"adam-1", "bfgs"}
        Alignment of a round: one step of Adam, with moments over all rounds, as published; or a
        complete maximization, with which five rounds suffice.
    rate : float, px
        Step of Adam, as displacement within the window.
    max_rounds : int, optional
        Maximum number of rounds; by default 50 for "adam-1" and 5 for "bfgs".
    tol_px : float, px
        Stop when a round changes the displacement within the window by less than this.
    score_from : {"all", "signal"}
        Events on the map for the ranking.
    leave_one_out : bool
        Subtract the contribution of an event from its own value.
    random_start : bool
        Start with a random share ``tau`` of the events as signal, instead of all.
    seed : int
        Seed of the random start.
    search : SearchConfig
        Parameters of the search for the first motion.

    References
    ----------
    S. Shiba et al., "Simultaneous motion and noise estimation with event cameras", ICCV 2025.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(duration_us=30_000, noise_share=0.25, seed=1)
    >>> result = Eja(tau=0.8).run(evcrisp.Window(scene.events, 0, 30_000), scene.motion)
    >>> bool((result.signal == scene.events.signal).mean() > 0.9)
    True
    """

    name: ClassVar[str] = "eja"

    tau: float = 0.7
    objective: str = "variance"
    contrast: ContrastMap = field(default_factory=ContrastMap)
    inner: str = "adam-1"
    rate: float = 0.1
    max_rounds: int | None = None
    tol_px: float = 0.01
    score_from: str = "all"
    leave_one_out: bool = False
    random_start: bool = False
    seed: int = 0
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        lookup(OBJECTIVES, self.objective, "objective")
        check_number("tau", self.tau, 0, 1, open_low=True)
        check_choice("inner", self.inner, INNER)
        check_choice("score_from", self.score_from, SCORES_FROM)
        check_number("rate", self.rate, 0, open_low=True)
        check_number("tol_px", self.tol_px, 0)
        if self.max_rounds is not None:
            check_number("max_rounds", self.max_rounds, 1, whole=True)
        check_number("seed", self.seed, 0, whole=True)

    @on_view_frame
    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window."""
        data, not_hot = WindowData.of(window, model), ~hot_events(window.events)
        clean = data.subset(not_hot)
        result = result_without_evidence(clean, theta0)
        if result is not None:
            # Without a motion, all events are signal.
            return estimate_from_solver(self, window, data, result, np.zeros(len(data)))
        found = find_motion(clean, theta0, self.search)
        rounds = _Rounds(self, data, not_hot, found)
        end = rounds.run()
        return estimate_from_solver(self, window, data, end, rounds.score, rounds.signal)

    def first_labels(self, n: int) -> Bools:
        """Return the signal events of the first round, shape (n,)."""
        if not self.random_start:
            return np.ones(n, np.bool_)
        return np.random.default_rng(self.seed).random(n) < self.tau


class _Rounds:
    """Motion, labels and scores of one window, updated in rounds."""

    def __init__(self, config: Eja, data: WindowData, not_hot: Bools, start: SolverResult) -> None:
        self.config, self.data, self.not_hot = config, data, not_hot
        self.scaling = window_scaling(data)
        self.objective = OBJECTIVES[config.objective]()
        self.theta, self.n_eval = start.theta, start.n_eval
        self.adam = AdamState.zeros(start.theta.size)
        self.signal = config.first_labels(len(data))
        self.score = np.zeros(len(data))

    def run(self) -> SolverResult:
        config, data, scaling = self.config, self.data, self.scaling
        status = Status.MAX_ITER
        default = 50 if config.inner == "adam-1" else 5
        for _ in range(default if config.max_rounds is None else config.max_rounds):
            before = scaling.scaled(self.theta)
            self.theta = self._adam_step() if config.inner == "adam-1" else self._maximize()
            self._rank_events()
            change = scaling.scaled(self.theta) - before
            if math.sqrt(float(change @ change)) < config.tol_px:
                status = Status.CONVERGED
                break
        if at_collapse_bound(data, self.theta, config.search.max_log_area):
            status = Status.COLLAPSED
        value = Alignment(data, config.contrast, self.objective).value(self.theta)
        return SolverResult(self.theta, value, self.n_eval, status)

    def _adam_step(self) -> Floats:
        alignment, scaling = self._alignment(), self.scaling
        fun = scaled_function(
            alignment, alignment.data, scaling,
            needs_gradient=True, max_log_area=self.config.search.max_log_area,
        )  # fmt: skip
        scaled = scaling.scaled(self.theta)
        _, gradient = fun(scaled)
        self.n_eval += 1
        if gradient is None or not np.isfinite(gradient).all():
            return self.theta
        return scaling.theta(scaled + self.adam.step(gradient, self.config.rate))

    def _maximize(self) -> Floats:
        solver = Bfgs(tol=1e-8, tol_step=0.1 * self.config.tol_px, max_step=2.0)
        alignment, bound = self._alignment(), self.config.search.max_log_area
        end = refine(alignment.data, self.theta, [alignment], solver, bound)
        self.n_eval += end.n_eval
        return end.theta

    def _alignment(self) -> Alignment:
        """Return the contrast of the signal events."""
        kept = self.data.subset(self.signal & self.not_hot)
        return Alignment(kept, self.config.contrast, self.objective)

    def _rank_events(self) -> None:
        """Read the map at every event; label the share with the largest values as signal."""
        config, contrast = self.config, self.config.contrast
        x, y = self.data.warp.warp(self.theta)
        weight = np.ones(x.size) if config.score_from == "all" else self.signal.astype(np.float64)
        iwe = contrast.build(x, y, weight, self.data.resolution)
        if config.leave_one_out:
            values = contrast.leave_one_out(iwe, x, y, weight)
        else:
            values = contrast.sample(iwe, x, y)
        inside = contrast.sample(np.ones(iwe.shape), x, y) > 0.5
        n_keep = math.ceil(config.tau * x.size) - int(np.count_nonzero(self.signal & ~inside))
        chosen, cut = largest(values[inside], n_keep)
        self.signal = self.signal.copy()
        self.signal[inside] = chosen
        # Events off the map are scored by their label.
        self.score = np.where(inside, values, np.where(self.signal, cut, 0.0))


def largest(values: Floats, n: int) -> tuple[Bools, float]:
    """Return a mask of the ``n`` largest values, and the least of them; earlier ones win ties.

    >>> chosen, cut = largest(np.array([1.0, 3.0, 2.0, 2.0]), 2)
    >>> chosen.tolist(), cut
    ([False, True, True, False], 2.0)
    """
    n = min(max(n, 0), values.size)
    if n == 0:
        return np.zeros(values.size, np.bool_), float(values.max(initial=0.0))
    cut = float(np.partition(values, values.size - n)[values.size - n])
    chosen = values > cut
    equal = np.flatnonzero(values == cut)[: n - int(np.count_nonzero(chosen))]
    chosen[equal] = True
    return chosen, cut
