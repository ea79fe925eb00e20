"""Which events each frame shows, with their labels and where they are aligned; in bounded memory."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.windows import Window, by_time, seconds_since
from evcrisp.estimators.result import Estimate, Estimator
from evcrisp.motion import MotionModel
from evcrisp.video.config import VideoConfig
from evcrisp.video.panes import Shown
from evcrisp.video.parallel_windows import estimated

OnEvents = Callable[[Events], None]
Positions = tuple[NDArray[np.float64], NDArray[np.float64]]
Warp = Callable[[Events, int], Positions]


def shown_frames(
    chunks: Iterable[Events],
    config: VideoConfig,
    estimator: Estimator,
    model: MotionModel,
    on_events: OnEvents,
) -> Iterator[Shown]:
    """Yield what every frame shows; frame k starts k steps after the first event.

    Nothing is estimated if no pane needs it. ``on_events`` is called with all events once, as far
    as they are looked at.
    """
    length, step = config.window_us, config.step_us
    apart = step >= length
    windows = _windows_apart(chunks, length, step) if apart else by_time(chunks, length)
    if config.is_estimated:
        parts = (_Part.of_estimate(result) for result in estimated(windows, estimator, model))
    else:
        parts = (_Part.of_window(window) for window in windows)
    heard = _heard(parts, on_events)
    if apart:
        return (_joined([part], part.window.t_start, part.window.t_end) for part in heard)
    return _between(heard, length, step)


def _windows_apart(chunks: Iterable[Events], window_us: int, step_us: int) -> Iterator[Window]:
    """Cut windows with gaps between them: what a fast video leaves out is not estimated either."""
    for step in by_time(chunks, step_us):
        t_end = min(step.t_start + window_us, step.t_end)
        inside = step.events.between(step.t_start, t_end)
        yield Window(inside, step.t_start, t_end, step.index)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A window with labels, and how its events move to a time."""

    window: Window
    signal: NDArray[np.bool_]
    warp: Warp

    @classmethod
    def of_estimate(cls, result: Estimate) -> "_Part":
        def warp(events: Events, t_us: int) -> Positions:
            if t_us == result.window.t_ref and len(events) == len(result):
                return result.aligned_x, result.aligned_y
            dt = seconds_since(events.t, t_us)
            return result.motion.warp(result.theta, events.x, events.y, dt)

        return cls(result.window, result.signal, warp)

    @classmethod
    def of_window(cls, window: Window) -> "_Part":
        def stay(events: Events, t_us: int) -> Positions:
            return events.x.astype(np.float64), events.y.astype(np.float64)

        return cls(window, np.ones(len(window.events), np.bool_), stay)


def _heard(parts: Iterable[_Part], on_events: OnEvents) -> Iterator[_Part]:
    for part in parts:
        on_events(part.window.events)
        yield part


def _between(parts: Iterable[_Part], window_us: int, step_us: int) -> Iterator[Shown]:
    """Yield frames that overlap, each from the one or two windows that it lies in."""
    held: list[_Part] = []
    t_frame: int | None = None
    for part in parts:
        held.append(part)
        t_frame = part.window.t_start if t_frame is None else t_frame
        # The last window may be shorter; its frames are not.
        while t_frame <= part.window.t_start:
            yield _joined(held, t_frame, t_frame + window_us)
            t_frame += step_us
            held = [part for part in held if part.window.t_end > t_frame]


def _joined(parts: list[_Part], t_start: int, t_end: int) -> Shown:
    """Join parts of windows; every event is moved by the motion of its own window."""
    t_middle = (t_start + t_end) // 2
    pieces, signals, xs, ys = [], [], [], []
    for part in parts:
        first, last = np.searchsorted(part.window.events.t, (t_start, t_end))
        piece = part.window.events[int(first) : int(last)]
        x, y = part.warp(piece, t_middle)
        pieces.append(piece)
        signals.append(part.signal[first:last])
        xs.append(x)
        ys.append(y)
    return Shown(
        events=Events.concatenate(pieces),
        signal=_joined_arrays(signals),
        aligned_x=_joined_arrays(xs),
        aligned_y=_joined_arrays(ys),
        t_start=t_start,
        t_end=t_end,
    )


def _joined_arrays(arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
