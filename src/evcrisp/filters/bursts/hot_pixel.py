"""Hot pixels: drop the events of a pixel that fires far more often than those around it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least, positive
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class HotPixel:
    r"""Drop the events of pixels that count more than ``least + factor * mean`` of those around.

    Every pixel has a count that fades: an event adds 1, and half of it is left after each half-life.
    The mean is over the other pixels within two pixels. The score is :math:`L / (L + c)` with the
    limit :math:`L` and the count :math:`c` of the pixel, this event included.

    Parameters
    ----------
    least : float
        Count that any pixel may have.
    factor : float
        How many times the mean of the pixels around it may have on top.
    half_life_us : int
        Time in which counts fade to one half, us.

    Notes
    -----
    The filter goes through a recording once and decides at each event, with no list of hot pixels
    made beforehand and none that ends with a window. What that costs: the first ``least`` events of a
    hot pixel pass, as the filter cannot know yet; a pixel hotter than others but slower than about
    ``0.7 * least`` events per half-life is never noticed; two hot pixels side by side excuse each
    other in part. After it went silent a pixel is forgotten within some half-lives.
    """

    name: ClassVar[str] = "hotpixel"
    about: ClassVar[About] = About("evcrisp", "25 pixels", "1 count per pixel")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    least: float = 12.0
    factor: float = 6.0
    half_life_us: int = 1_000_000

    def __post_init__(self) -> None:
        at_least("half_life_us", self.half_life_us, 1, most=10**10)
        positive("least", self.least)
        positive("factor", self.factor)

    def start(self, resolution: tuple[int, int]) -> "HotPixelStream":
        """Begin a recording in which no pixel has fired."""
        return HotPixelStream(self, resolution)


class HotPixelStream(Causal):
    """The filter at work; keeps a fading count of each pixel."""

    __slots__ = ("_counts", "_growth", "_limits", "_resolution", "_start")

    def __init__(self, config: HotPixel, resolution: tuple[int, int]) -> None:
        from evcrisp.kernels.filters.decay import Growth

        self._resolution = resolution
        self._counts = np.zeros((resolution[1] + 4, resolution[0] + 4))
        self._growth = Growth.of(config.half_life_us, 2.0, 16)
        self._limits = (float(config.least), float(config.factor))
        self._start: NDArray[np.int64] | None = None  # (1,) us; known when the first event comes

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.hot_pixel import fading_excess

        events = checked(events, self._resolution)
        labels = Labels.room(len(events))
        if len(events):
            self._start = events.t[:1].copy() if self._start is None else self._start
            columns = (events.x, events.y, events.t)
            state = (self._counts, self._start, self._growth, self._limits)
            fading_excess(*columns, *state, labels.signal, labels.score)
        return labels
