"""How a video looks and how time runs in it."""

import math
import numbers
from dataclasses import dataclass

from evcrisp.core.errors import ConfigError
from evcrisp.core.palettes import PALETTES
from evcrisp.core.registry import lookup
from evcrisp.video.panes import PANES

#: Time that a frame shows unless told otherwise: that of a frame at 30 frames per second, us.
DEFAULT_WINDOW_US = 33_333

_MAX_SIDE_PX = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoConfig:
    """How a recording becomes a video.

    Parameters
    ----------
    fps : float, Hz
        Frames per second of the video, up to 240; of a GIF, up to 50.
    speed : float
        Time of the recording per time of the video: 1 is real time, 0.1 slow motion, 10 fast
        forward. A frame starts ``speed / fps`` seconds after the one before.
    window_us : int, us
        Time that a frame shows, and that a motion is estimated over. Longer than a step, frames
        share events; shorter, some events are not shown.
    panes : tuple of str
        What stands side by side; keys of ``evcrisp.video.PANES``.
    colors : str
        One of the keys of ``evcrisp.video.PALETTES``.
    exposure : float
        How strongly an event colors its pixel: a share of ``1 - exp(-exposure)`` of what is left
        of the ground.
    scale : int
        Side of a sensor's pixel in the video, px.
    titles : bool
        Whether a line above the panes has their names and the time.
    """

    fps: float = 30.0
    speed: float = 1.0
    window_us: int = DEFAULT_WINDOW_US
    panes: tuple[str, ...] = ("raw", "aligned", "denoised")
    colors: str = "red-blue"
    exposure: float = 1.0
    scale: int = 1
    titles: bool = True

    def __post_init__(self) -> None:
        if not 0.0 < self.fps <= 240.0:
            raise ConfigError(f"`fps` must be positive, at most 240; got {self.fps}.")
        if not (self.speed > 0.0 and math.isfinite(self.speed)):
            raise ConfigError(f"`speed` must be positive; got {self.speed}.")
        if not 1 <= 1e6 * self.speed / self.fps <= 3.6e9:
            raise ConfigError(
                f"must give 1 us to one hour from frame to frame, at {self.fps:g} frames per second",
                parameter="speed",
                value=self.speed,
            )
        for name, top in (("window_us", 10_000_000), ("scale", 16)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or not 1 <= value <= top:
                raise ConfigError(f"`{name}` must lie in 1..{top}, a whole number; got {value}.")
        if not 0.0 < self.exposure <= 100.0:
            raise ConfigError(f"`exposure` must lie in 0..100, above 0; got {self.exposure}.")
        if not self.panes:
            raise ConfigError(f"must name at least one of {', '.join(PANES)}", parameter="panes")
        for pane in self.panes:
            lookup(PANES, pane, "pane")
        lookup(PALETTES, self.colors, "palette")

    @property
    def step_us(self) -> int:
        """Time from the start of a frame to the start of the next, us."""
        return max(1, round(1e6 * self.speed / self.fps))

    @property
    def is_estimated(self) -> bool:
        """Whether a pane needs motion or labels."""
        return any(PANES[name].is_estimated for name in self.panes)

    def check_size(self, width: int, height: int) -> None:
        """Raise if the video of so many pixels would be too large for any player."""
        if max(width, height) > _MAX_SIDE_PX:
            raise ConfigError(
                f"The video would have {width}x{height} px; at most {_MAX_SIDE_PX} along a side. "
                "Use fewer panes or a smaller scale."
            )
