"""Collect the events of each frame, with labels and aligned positions, in bounded memory."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.palettes import layer_slots
from evcrisp.core.windows import MAX_EMPTY_WINDOWS, Window, by_time
from evcrisp.estimators.result import Estimate
from evcrisp.pipeline.tracking import Tracker
from evcrisp.pipeline.windowing import Windowing
from evcrisp.video.config import FrameContent, LayerMark, VideoConfig

OnEvents = Callable[[Events], None]
Positions = tuple[NDArray[np.float64], NDArray[np.float64]]
Warp = Callable[[Events, int], Positions]
Velocity = tuple[float, float]
Box = tuple[float, float, float, float]


def frame_contents(
    chunks: Iterable[Events], config: VideoConfig, tracker: Tracker, on_events: OnEvents
) -> Iterator[FrameContent]:
    """Yield the content of every frame; frame k starts k steps after the first event.

    Nothing is estimated if no pane needs it. ``on_events`` is called with the events of each window.
    """
    length, step = config.shown_us, config.step_us
    if config.window_us is None and config.is_estimated:
        cut = Windowing().cut(chunks, tracker.speed_px_s)
        chosen = (window for window, _ in cut)
        return _across(_parts(chosen, tracker, on_events, config.shows_layers), length, step)
    apart = step >= length
    windows = _windows_apart(chunks, length, step) if apart else by_time(chunks, length)
    used = tracker if config.is_estimated else None
    parts = _parts(windows, used, on_events, config.shows_layers)
    if apart:
        return (_joined([part], part.window.t_start, part.window.t_end) for part in parts)
    return _between(parts, length, step)


def _parts(
    windows: Iterable[Window], tracker: Tracker | None, on_events: OnEvents, with_layers: bool
) -> "Iterator[_Part]":
    for window in windows:
        on_events(window.events)
        if tracker is None:
            yield _Part.of_window(window)
        else:
            yield _Part.of_estimate(tracker.estimate(window), with_layers)


def _windows_apart(chunks: Iterable[Events], window_us: int, step_us: int) -> Iterator[Window]:
    """Cut windows with gaps between them; events in the gaps are not estimated."""
    for step in by_time(chunks, step_us):
        t_end = min(step.t_start + window_us, step.t_end)
        inside = step.events.between(step.t_start, t_end)
        yield Window(inside, step.t_start, t_end, step.index)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A window with labels, and the warp of its events to a time."""

    window: Window
    signal: NDArray[np.bool_]
    warp: Warp
    slot: NDArray[np.int16] | None = None  # color of the layer of each event
    layers: tuple[tuple[LayerMark, Velocity], ...] = ()  # at the reference time, px/s

    @classmethod
    def of_estimate(cls, result: Estimate, with_layers: bool) -> "_Part":
        def warp(events: Events, t_us: int) -> Positions:
            if t_us == result.window.t_ref and len(events) == len(result):
                return result.aligned_x, result.aligned_y
            return result.align(events, t_us)

        if not with_layers:
            return cls(result.window, result.signal, warp)
        layers = result.layers
        slots = layer_slots([layer.id for layer in layers])
        color = np.array([*slots, -1], np.int16)[result.layer]  # -1 is the last entry
        shown = tuple(
            (
                LayerMark(layer.id, slot, layer.box),
                (float(layer.velocity[0]), float(layer.velocity[1])),
            )
            for layer, slot in zip(layers, slots, strict=True)
            if len(layers) > 1
        )
        return cls(result.window, result.signal, warp, color, shown)

    @classmethod
    def of_window(cls, window: Window) -> "_Part":
        def stay(events: Events, t_us: int) -> Positions:
            return events.x.astype(np.float64), events.y.astype(np.float64)

        return cls(window, np.ones(len(window.events), np.bool_), stay)

    def marks(self, t_us: int) -> tuple[LayerMark, ...]:
        """Return the boxes of the layers at a time: they move with the layers."""
        dt = (t_us - self.window.t_ref) / 1e6
        return tuple(
            LayerMark(mark.id, mark.slot, _moved(mark.box, velocity, dt))
            for mark, velocity in self.layers
        )


def _moved(box: Box, velocity: Velocity, dt: float) -> Box:
    left, top, width, height = box
    shift = dt * velocity[0], dt * velocity[1]
    if not np.isfinite(shift).all():
        return box
    return left + shift[0], top + shift[1], width, height


def _between(parts: Iterable[_Part], window_us: int, step_us: int) -> Iterator[FrameContent]:
    """Yield overlapping frames, each from the one or two windows that contain it."""
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


def _across(parts: Iterable[_Part], shown_us: int, step_us: int) -> Iterator[FrameContent]:
    """Yield frames from windows of any lengths, with pauses between them."""
    held: list[_Part] = []
    t_frame = 0
    for part in parts:
        t_frame = t_frame if held else part.window.t_start
        held.append(part)
        n_empty = (part.window.t_start - t_frame) // step_us
        t_frame += n_empty * step_us if n_empty > MAX_EMPTY_WINDOWS else 0
        while t_frame + shown_us <= part.window.t_end:
            yield _joined(held, t_frame, t_frame + shown_us)
            t_frame += step_us
            held = [part for part in held if part.window.t_end > t_frame] or held[-1:]
    while held and t_frame < held[-1].window.t_end:
        yield _joined(held, t_frame, t_frame + shown_us)
        t_frame += step_us


def _joined(parts: list[_Part], t_start: int, t_end: int) -> FrameContent:
    """Join parts of windows; every event is warped by the motion of its own window."""
    t_middle = (t_start + t_end) // 2
    pieces: list[Events] = []
    columns: list[tuple[Any, ...]] = []
    slots: list[NDArray[np.int16]] = []
    for part in parts:
        first, last = np.searchsorted(part.window.events.t, (t_start, t_end))
        pieces.append(part.window.events[int(first) : int(last)])
        columns.append((part.signal[first:last], *part.warp(pieces[-1], t_middle)))
        if part.slot is not None:
            slots.append(part.slot[first:last])
    joined = columns[0] if len(parts) == 1 else map(np.concatenate, zip(*columns, strict=True))
    slot = np.concatenate(slots) if slots else None
    middle = next((part for part in parts if t_middle < part.window.t_end), parts[-1])
    return FrameContent(
        Events.concatenate(pieces), *joined, t_start, t_end, slot, middle.marks(t_middle)
    )
