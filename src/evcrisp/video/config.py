"""Panes and configuration of videos."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.palettes import PALETTES
from evcrisp.core.registry import lookup
from evcrisp.core.types import Bools, Floats
from evcrisp.core.validation import check_number


@dataclass(frozen=True, slots=True)
class LayerMark:
    """Number, color and box of a layer in a frame."""

    id: int
    slot: int  # of its color
    box: tuple[float, float, float, float]  # left, top, width, height, px


@dataclass(frozen=True, slots=True, eq=False)
class FrameContent:
    """Events of a frame, with labels, aligned positions and layers."""

    events: Events
    signal: Bools  # (n,) True = keep
    aligned_x: Floats  # (n,) px, at the middle of the frame's time
    aligned_y: Floats
    t_start: int  # us
    t_end: int  # us, not included
    slot: NDArray[np.int16] | None = None  # (n,) color of the layer, -1 for noise; None: not shown
    marks: tuple[LayerMark, ...] = ()  # of several layers; none for one motion


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
    by_layer: bool = False  # colors show layers, with boxes


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
    "layers": Pane(
        "layers", "all events in the colors of their layers, with boxes", _labels, by_layer=True
    ),
}


#: Default duration that a frame shows, us: one frame at 30 frames per second.
DEFAULT_SHOWN_US = 33_333

#: Largest side of a video, px; players do not support more.
_MAX_SIDE_PX = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoConfig:
    """Configuration of a video.

    Parameters
    ----------
    fps : float, Hz
        Frames per second, up to 240; of a GIF, up to 50.
    speed : float
        Time of the recording per time of the video: 1 is real time, 0.1 slow motion, 10 fast
        forward. Frames start ``speed / fps`` seconds apart.
    window_us : int, optional, us
        Duration that a frame shows, and over which a motion is estimated. If it is longer than
        the step between frames, frames share events; if shorter, some events are not shown. By
        default the motion is that of the windows of ``Windowing()``, and frames show 33.3 ms.
    panes, colors : tuple of str, str
        Panes side by side, keys of ``evcrisp.video.PANES``; palette, a key of ``PALETTES``.
    exposure : float
        Opacity of events: each covers ``1 - exp(-exposure)`` of the ground that is still visible.
    scale : int
        Side of a sensor pixel in the video, px.
    titles : bool
        Show a line above the panes with their names and the time.
    """

    fps: float = 30.0
    speed: float = 1.0
    window_us: int | None = None
    panes: tuple[str, ...] = ("raw", "aligned", "denoised")
    colors: str = "red-blue"
    exposure: float = 1.0
    scale: int = 1
    titles: bool = True

    def __post_init__(self) -> None:
        check_number("fps", self.fps, 0.0, 240.0, open_low=True)
        check_number("speed", self.speed, 0.0, open_low=True)
        if not 1 <= 1e6 * self.speed / self.fps <= 3.6e9:
            raise ConfigError(
                f"must give 1 us to one hour from frame to frame, at {self.fps:g} frames per second",
                parameter="speed",
                value=self.speed,
            )
        check_number("window_us", self.shown_us, 1, 10_000_000, whole=True)
        check_number("scale", self.scale, 1, 16, whole=True)
        check_number("exposure", self.exposure, 0.0, 100.0, open_low=True)
        if not self.panes:
            raise ConfigError(f"must name at least one of {', '.join(PANES)}", parameter="panes")
        for pane in self.panes:
            lookup(PANES, pane, "pane")
        lookup(PALETTES, self.colors, "palette")

    @property
    def shown_us(self) -> int:
        """Duration that a frame shows, us."""
        return DEFAULT_SHOWN_US if self.window_us is None else self.window_us

    @property
    def step_us(self) -> int:
        """Time from the start of a frame to the start of the next, us."""
        return max(1, round(1e6 * self.speed / self.fps))

    @property
    def is_estimated(self) -> bool:
        """Whether a pane shows motion or labels."""
        return any(PANES[name].is_estimated for name in self.panes)

    @property
    def shows_layers(self) -> bool:
        """Whether a pane shows layers."""
        return any(PANES[name].by_layer for name in self.panes)

    def check_size(self, width: int, height: int) -> None:
        """Raise if a video is larger than players support."""
        if max(width, height) > _MAX_SIDE_PX:
            raise ConfigError(
                f"The video would have {width}x{height} px; at most {_MAX_SIDE_PX} along a side. "
                "Use fewer panes or a smaller scale."
            )
