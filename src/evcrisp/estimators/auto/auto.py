"""The default method: alignment and denoising with nothing to tune."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats, Singles
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.both_labels import BothLabels
from evcrisp.estimators.auto.event_evidence import Evidence, evidence_by_motion
from evcrisp.estimators.auto.session import AutoSession
from evcrisp.estimators.hot_pixels import events_at_hot_pixels, events_per_pixel
from evcrisp.estimators.result import Estimate, Regret, estimate_from_solver
from evcrisp.estimators.significance import MIN_SIGNAL, TOO_LITTLE_SIGNAL
from evcrisp.estimators.view_frame import on_view_frame
from evcrisp.motion import MotionModel, PreparedWarp
from evcrisp.motion.open_motion import is_open
from evcrisp.optimize import SolverResult
from evcrisp.search.multiscale_objective import subsampled
from evcrisp.search.scaling import Scaling
from evcrisp.search.search import find_motion, refine_motion
from evcrisp.search.window_data import WindowData

#: The first motion estimate uses a quarter of the events, 8192 to 50 000; it gives the labels. The
#: reported motion is refined with all events that may be signal.
FIRST_SHARE, MIN_FIRST, MAX_FIRST = 0.25, 8_192, 50_000

#: Events with a score above this refine the motion. A score of 1 would select by the first motion,
#: and bias the refined one towards it.
REFINE_SCORE = 0.25

#: Largest displacement between first and refined motion, px; beyond it all events are used.
MAX_CORRECTION_PX = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoRegret:
    r"""Align by contrast, and keep events supported by other aligned events.

    The form is that of the paper's joint problem, with constants measured in the window. The
    confidence is the closed form :math:`w = 1 - A / e^2` of a regret that alignment decides
    (lam = 0), with :math:`A = t_0^2 / 2`, so that w = 1/2 at the threshold :math:`t_0`. Evidence e
    replaces the contrast; see :mod:`evcrisp.estimators.auto.event_evidence`. The threshold comes
    from noise samples; see :mod:`evcrisp.estimators.auto.noise_model`. A quarter of the events
    gives a first motion and the labels. All events with a score above 0.25 refine the motion. Hot
    pixels support no events and take no part in the search. The score is e / t0. Events that the
    motion moves off the map are judged by the pixels around them. Where neighbors in space and time
    separate events from noise better than the motion, they give the labels; see
    :mod:`evcrisp.estimators.auto.label_choice`.

    ``w_map`` is the map of events times their confidence, divided by the map of events: W read at an
    event is the confidence of the events around it.

    The baseline of alignment, ``regret.baseline_ea``, is the reached contrast plus the regret of
    denoising: the ideal point, raised until alignment decides.

    Parameters
    ----------
    false_alarm : float
        Largest share of uniform noise that may be kept. Mostly less is kept: the threshold rises
        as long as more noise than signal is lost. Up to half of it is kept where no motion
        separates events from noise, and much signal would be lost.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=30_000, noise_hz=5.0, seed=1)
    >>> result = AutoRegret().run(evcrisp.Window(scene.events, 0, 30_000), scene.motion)
    >>> bool(scene.warp_error_px(result.theta, 0, 30_000) < 0.1)
    True
    >>> bool((result.signal == scene.events.signal).mean() > 0.95)
    True
    """

    name: ClassVar[str] = "auto"
    finds_motion_model: ClassVar[bool] = True

    false_alarm: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 < self.false_alarm < 1.0:
            problem = "must lie between 0 and 1"
            raise ConfigError(problem, parameter="false_alarm", value=self.false_alarm)

    @on_view_frame
    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window; an `OpenMotion` finds the model too."""
        if is_open(model):
            return self.start_session(window.events.resolution).run(window, model, theta0)
        return self.run_both(window, model, theta0).final

    def run_both(
        self,
        window: Window,
        model: MotionModel,
        theta0: Floats | None = None,
        *,
        with_map: bool = True,
        is_in_vain: Callable[[Bools], bool] | None = None,
    ) -> BothLabels:
        """Estimate one window with a given model; return the labels by its motion alone too.

        ``with_map`` computes the confidence map and the joint objectives, too. ``is_in_vain`` is asked
        with the labels by the first motion, and ends the estimate early if it returns True.
        """
        events = window.events.contiguous()
        if not len(events):
            empty = self.without_events(window, model, theta0)
            return BothLabels(empty, empty)
        data = WindowData.of(window, model)
        counts = events_per_pixel(events)
        hot = events_at_hot_pixels(events.x, events.y, counts)
        not_hot = ~hot
        candidates = data if not_hot.all() else data.subset(not_hot)
        start = find_motion(_first_subsample(candidates), theta0)
        found = evidence_by_motion(
            data, events, start.theta, supporting=not_hot, false_alarm=self.false_alarm
        )
        labels = found.evidence.by_motion
        if (
            is_in_vain is not None
            and start.status is Status.CONVERGED
            and is_in_vain(labels.signal)
        ):
            first = estimate_from_solver(
                self, window, data, start, labels.score, labels.signal, labels.confidence
            )
            complete = partial(self.run_both, window, model, theta0, with_map=with_map)
            return BothLabels(first, first, complete)
        evidence = found.best()
        w_map = regret = None
        if with_map:
            if hot.any():
                counts[events.y[hot], events.x[hot]] = 0.0
            w_map, regret = _joint_objectives(evidence, not_hot, counts)
        score, confidence, signal = evidence.labels
        # Events of other motions have neighbors too, but tell nothing about this one.
        end = _refined(data, candidates, start, evidence.by_motion.score > REFINE_SCORE)
        final = estimate_from_solver(
            self, window, data, end, score, signal, confidence,
            w_map=w_map, regret=regret, warnings=warnings_of(end.status, int(np.count_nonzero(evidence.by_motion.signal))),
        )  # fmt: skip
        return BothLabels.of(final, evidence)

    def start_session(self, resolution: tuple[int, int]) -> AutoSession:
        """Return a session, in which an `OpenMotion` continues from window to window."""
        return AutoSession(self)

    def start_session_without_map(self, resolution: tuple[int, int]) -> AutoSession:
        """Return a session whose estimates have neither ``w_map`` nor ``regret``: that is faster."""
        return AutoSession(self, with_map=False)

    def without_events(self, window: Window, model: MotionModel, theta0: Floats | None) -> Estimate:
        """Return the estimate of a window without events, cheaply: pauses can last for hours."""
        nothing = np.empty(0)
        theta = np.zeros(len(model.param_names)) if theta0 is None else np.nan_to_num(theta0)
        return Estimate(
            theta=theta, signal=np.empty(0, np.bool_), score=nothing, confidence=nothing,
            aligned_x=nothing, aligned_y=nothing, status=Status.TOO_FEW_EVENTS, motion=model,
            window=window, config=self,
        )  # fmt: skip


def warnings_of(status: Status, n_signal: int) -> tuple[str, ...]:
    """Warn if a motion was found among hardly any signal."""
    if not status.has_evidence or n_signal >= MIN_SIGNAL:
        return ()
    return (TOO_LITTLE_SIGNAL,)


def _first_subsample(data: WindowData) -> WindowData:
    """Return the events of the first motion estimate."""
    n_first = min(max(round(FIRST_SHARE * len(data)), MIN_FIRST), MAX_FIRST)
    return _with(data, subsampled(data.warp, n_first))


def _with(data: WindowData, warp: PreparedWarp) -> WindowData:
    """Return a window with some of its events; the search ignores their polarities."""
    return WindowData(warp, data.p[: len(warp)], data.resolution, data.duration_s)


def _refined(
    data: WindowData, candidates: WindowData, start: SolverResult, chosen: Bools
) -> SolverResult:
    """Refine the motion with the chosen events; with all candidates if it moves too far."""
    if not start.status.has_evidence:
        return start
    n_eval = start.n_eval
    if np.count_nonzero(chosen) >= MIN_SIGNAL:
        end = refine_motion(_with(data, data.warp.subset(chosen)), start)
        n_eval += end.n_eval
        scaling = Scaling.of(data.warp.model, data.resolution, data.duration_s)
        moved_px = float(np.linalg.norm(scaling.scaled(end.theta - start.theta)))
        if end.status is Status.CONVERGED and moved_px < MAX_CORRECTION_PX:
            return replace(end, n_eval=n_eval)
    end = refine_motion(candidates, start)
    return replace(end, n_eval=n_eval + end.n_eval)


def _joint_objectives(
    evidence: Evidence, supporting: Bools, counts: Singles
) -> tuple[Floats, Regret]:
    """Return W, and the joint objectives; W o M is the map of events times their confidence."""
    from evcrisp.kernels.auto.event_evidence import (
        accumulate_confidence,
        unaligned_map_sums,
        weight_maps,
    )

    images, events = evidence.maps.images, evidence.maps.events
    confidence = evidence.labels.confidence
    if evidence.order is not None:
        confidence, supporting = confidence[evidence.order], supporting[evidence.order]
    kept = evidence.maps.window.buffers.kept_image(*images.shape[1:])
    accumulate_confidence(events.cell, events.a, events.b, confidence, supporting, kept)
    w_map, sums, unaligned = np.empty(images.shape[1:]), np.empty(6), np.empty(2)
    weight_maps(images, kept, w_map, sums)
    unaligned_map_sums(counts, unaligned)
    mean, square, mean_kept, square_kept, mean_w, loss = (sums / w_map.size).tolist()
    f_ea, f_ed = max(square - mean**2, 0.0), max(square_kept - mean_kept**2, 0.0)
    mean, square = (unaligned / w_map.size).tolist()
    baseline_ed = max(square - mean**2, 0.0)
    regret_ea = max(f_ed - baseline_ed, 0.0)
    # With beta = 1 / P the closed form needs alpha = t0^2 / P.
    value = regret_ea + evidence.threshold**2 * mean_w + loss
    baselines = {"baseline_ea": f_ea + regret_ea, "baseline_ed": baseline_ed}
    return w_map, Regret(f_ea=f_ea, f_ed=f_ed, **baselines, lam=0.0, value=value)
