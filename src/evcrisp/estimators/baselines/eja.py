"""Event joint alignment: align the kept events, keep the best aligned ones, and again."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.build_estimate import concluded
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.result import Estimate
from evcrisp.motion import MotionModel
from evcrisp.objectives import OBJECTIVES, Objective
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
    """Alternate one step of alignment and a ranking of the events by contrast.

    ::

        repeat:  one step of theta uphill on the contrast of the kept events
                 contrast map of all events at theta; every event reads it at its place
                 keep the share ``tau`` of the events that read most

    Parameters
    ----------
    tau : float
        Share of events to keep, 0 to 1: one minus the share of noise, which must be known.
    objective : str
        What to climb; one of the keys of ``evcrisp.objectives.OBJECTIVES``.
    contrast : ContrastMap
        The map of both halves of a round.
    inner : {"adam-1", "bfgs"}
        One step of Adam, whose memory lasts over all rounds, as published; or a climb to the top
        in every round, of which five suffice.
    rate : float, px
        Step of Adam: displacement within the window.
    max_rounds : int, optional
        Most rounds; 50 with "adam-1" and 5 with "bfgs" where not given.
    tol_px : float, px
        Stop when a round changes the displacement within the window by less.
    score_from : {"all", "signal"}
        Which events make the map that is read.
    leave_one_out : bool
        Do not let an event read itself.
    random_start : bool
        Keep a random share ``tau`` of the events in the first round, instead of all.
    seed : int
        For the random start.
    search : SearchConfig
        How the first motion is found.

    Notes
    -----
    Written after descriptions of the method; its own solver is not public. Events that the warp
    takes off the padded map have no contrast to read, and keep the label they had. Events that read
    the same are kept in the order of time. Hot pixels have no part in finding the motion.

    References
    ----------
    S. Shiba, Y. Aoki, G. Gallego, "Simultaneous motion and noise estimation with event
    cameras", ICCV 2025.

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
        if not 0.0 < self.tau <= 1.0:
            raise ConfigError(f"`tau` must lie in 0..1, the share to keep; got {self.tau}.")
        for name, known in (("inner", INNER), ("score_from", SCORES_FROM)):
            if getattr(self, name) not in known:
                raise ConfigError(
                    f"`{name}` must be one of {', '.join(known)}; got {getattr(self, name)!r}."
                )
        if not 0.0 < self.rate < math.inf:
            raise ConfigError(f"`rate` must be a positive number of px; got {self.rate}.")
        if not 0.0 <= self.tol_px < math.inf:
            raise ConfigError(f"`tol_px` must be a number of px, 0 or more; got {self.tol_px}.")
        if self.max_rounds is not None and self.max_rounds < 1:
            raise ConfigError(f"`max_rounds` must be 1 or more; got {self.max_rounds}.")
        if self.seed < 0:
            raise ConfigError(f"`seed` must be 0 or more; got {self.seed}.")

    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window."""
        data, cool = WindowData.of(window, model), ~hot_events(window.events)
        clean = data.subset(cool)
        hopeless = result_without_evidence(clean, theta0)
        if hopeless is not None:
            # Without a motion there is no reason to drop anything.
            return concluded(self, window, data, hopeless, np.zeros(len(data)))
        found = find_motion(clean, theta0, self.search)
        rounds = _Rounds.of(self, data, cool, found.theta)
        end = rounds.run()
        result = SolverResult(end.theta, end.value, end.n_eval + found.n_eval, end.status)
        return concluded(self, window, data, result, rounds.score, rounds.signal)

    def first_labels(self, n: int) -> Bools:
        """Return which events count in the first round."""
        if not self.random_start:
            return np.ones(n, np.bool_)
        return np.random.default_rng(self.seed).random(n) < self.tau


@dataclass(slots=True, eq=False)
class _Rounds:
    """The method at work on one window."""

    config: Eja
    data: WindowData
    cool: Bools  # which events are not of hot pixels
    theta: Floats
    signal: Bools
    score: Floats
    adam: AdamState
    objective: Objective
    n_eval: int = 0

    @classmethod
    def of(cls, config: Eja, data: WindowData, cool: Bools, theta: Floats) -> "_Rounds":
        signal = config.first_labels(len(data))
        objective = OBJECTIVES[config.objective]()
        adam = AdamState.zeros(theta.size)
        return cls(config, data, cool, theta, signal, np.zeros(len(data)), adam, objective)

    def run(self) -> SolverResult:
        config, scaling = self.config, window_scaling(self.data)
        status = Status.MAX_ITER
        default = 50 if config.inner == "adam-1" else 5
        for _ in range(default if config.max_rounds is None else config.max_rounds):
            before = scaling.scaled(self.theta)
            self.theta = self._one_step() if config.inner == "adam-1" else self._whole_climb()
            self._rank()
            moved = scaling.scaled(self.theta) - before
            if math.sqrt(float(moved @ moved)) < config.tol_px:
                status = Status.CONVERGED
                break
        data = self.data
        if at_collapse_bound(data, self.theta, config.search.max_log_area):
            status = Status.COLLAPSED
        value = Alignment(data, config.contrast, self.objective).value(self.theta)
        return SolverResult(self.theta, value, self.n_eval, status)

    def _one_step(self) -> Floats:
        kept = self.data.subset(self.signal & self.cool)
        scaling = window_scaling(self.data)
        fun = scaled_function(
            Alignment(kept, self.config.contrast, self.objective), kept, scaling,
            needs_gradient=True, max_log_area=self.config.search.max_log_area,
        )  # fmt: skip
        scaled = scaling.scaled(self.theta)
        _, gradient = fun(scaled)
        self.n_eval += 1
        if gradient is None or not np.isfinite(gradient).all():
            return self.theta
        return scaling.theta(scaled + self.adam.step(gradient, self.config.rate))

    def _whole_climb(self) -> Floats:
        kept = self.data.subset(self.signal & self.cool)
        solver = Bfgs(tol=1e-8, tol_step=0.1 * self.config.tol_px, max_step=2.0)
        alignment = Alignment(kept, self.config.contrast, self.objective)
        end = refine(kept, self.theta, [alignment], solver, self.config.search.max_log_area)
        self.n_eval += end.n_eval
        return end.theta

    def _rank(self) -> None:
        """Read the map at every event, and keep the share that reads most."""
        config, contrast = self.config, self.config.contrast
        x, y = self.data.warp.warp(self.theta)
        weight = np.ones(x.size) if config.score_from == "all" else self.signal.astype(np.float64)
        iwe = contrast.build(x, y, weight, self.data.resolution)
        if config.leave_one_out:
            read = contrast.leave_one_out(iwe, x, y, weight)
        else:
            read = contrast.sample(iwe, x, y)
        inside = contrast.sample(np.ones(iwe.shape), x, y) > 0.5
        n_keep = math.ceil(config.tau * x.size) - int(np.count_nonzero(self.signal & ~inside))
        chosen, cut = largest(read[inside], n_keep)
        self.signal = self.signal.copy()
        self.signal[inside] = chosen
        # Where there is nothing to read, the label that was kept decides the score.
        self.score = np.where(inside, read, np.where(self.signal, cut, 0.0))


def largest(values: Floats, n: int) -> tuple[Bools, float]:
    """Return which are the ``n`` largest values, the earlier ones first among equals, and the least.

    Examples
    --------
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
