"""Panes of a video: events, positions and colors of each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats


@dataclass(frozen=True, slots=True, eq=False)
class FrameContent:
    """Events of a frame, with labels and aligned positions."""

    events: Events
    signal: Bools  # (n,) True = keep
    aligned_x: Floats  # (n,) px, at the middle of the frame's time
    aligned_y: Floats
    t_start: int  # us
    t_end: int  # us, not included


#: x, y, kind and visibility of the events. Positions are uint16 pixels, or float64.
Dots = tuple[NDArray[np.generic], NDArray[np.generic], Bools, Bools]


@dataclass(frozen=True, slots=True)
class Pane:
    """One part of a frame."""

    title: str
    help: str
    dots: Callable[[FrameContent], Dots]
    is_estimated: bool = True
    by_label: bool = False  # colors show signal and noise, not polarity


def _raw(shown: FrameContent) -> Dots:
    events = shown.events
    return events.x, events.y, events.p, np.ones(len(events), np.bool_)


def _aligned(shown: FrameContent) -> Dots:
    return shown.aligned_x, shown.aligned_y, shown.events.p, shown.signal


def _denoised(shown: FrameContent) -> Dots:
    return shown.events.x, shown.events.y, shown.events.p, shown.signal


def _labels(shown: FrameContent) -> Dots:
    return shown.events.x, shown.events.y, shown.signal, np.ones(len(shown.events), np.bool_)


PANES: dict[str, Pane] = {
    "raw": Pane("raw", "all events as recorded", _raw, is_estimated=False),
    "aligned": Pane("aligned", "kept events, warped to the middle of the frame", _aligned),
    "denoised": Pane("denoised", "kept events as recorded", _denoised),
    "labels": Pane(
        "signal and noise", "all events, signal and noise in two colors", _labels, by_label=True
    ),
}
