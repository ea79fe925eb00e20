"""Area of the continuous contrast curve (AOCC): contrast of event frames by duration."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Floats
from evcrisp.core.validation import as_resolution
from evcrisp.metrics.chunks import checked, read_chunks

#: Durations of the frames, us.
DURATIONS_US = tuple(range(2_000, 200_001, 2_000))


@dataclass(frozen=True, slots=True, eq=False)
class AoccCurve:
    """Contrast curve and its area; NaN without events."""

    aocc: float  # contrast times us
    durations_us: NDArray[np.int64]  # (100,)
    contrast: Floats  # (100,) mean over the frames of one duration
    n_frames: NDArray[np.int64]  # (100,) with events


def aocc(events: Events | Iterable[Events]) -> AoccCurve:
    """Return the contrast of event frames by duration, and the area under that curve.

    For each duration of 2, 4, ..., 200 ms the recording is divided from its first event on. A frame
    is 255 at pixels with events and 0 elsewhere. It is blurred by a Gaussian (5 x 5, sigma 2, rounded
    to 8 bits). Its contrast is the standard deviation of the magnitude of the Sobel gradient. The
    curve is the mean over frames with events, an incomplete last one included. The area is computed
    by trapezoids over the duration in us.

    Chunks are read once; memory does not grow with the recording. Rounding equals that of 8-bit blur
    in OpenCV. Polarity has no effect. One second has 2600 frames, for any number of events.

    >>> edge = Events(x=[4] * 8, y=range(8), t=range(8), p=[1] * 8, resolution=(9, 8))
    >>> curve = aocc(edge)
    >>> round(float(curve.contrast[0]), 3), round(curve.aocc / 198_000, 3)
    (87.258, 87.258)
    """
    return (read_chunks(events, AoccMeter) or AoccMeter((1, 1))).curve()


class AoccMeter:
    """Measures the contrast curve chunk by chunk, in bounded memory; see :func:`aocc`."""

    def __init__(self, resolution: tuple[int, int]) -> None:
        from evcrisp.kernels.metrics.aocc import NEVER

        self.resolution = as_resolution(resolution)
        width, height = self.resolution
        durations = np.array(DURATIONS_US, np.int64)
        self._surface = np.full((height, width), NEVER, np.int64)
        self._windows = np.stack((durations, durations), axis=1)
        self._frames = np.zeros((durations.size, 2))
        self._rows, self._columns = _reflected(height), _reflected(width)
        self._work = np.zeros((9, width + 4), np.float32)
        self._t_first: int | None = None

    def add(self, events: Events) -> None:
        """Add the next chunk."""
        from evcrisp.kernels.metrics.aocc import add_events

        events = checked(events, self.resolution)
        if len(events) == 0:
            return
        if self._t_first is None:
            self._t_first = int(events.t[0])
        state = (self._surface, self._windows, self._rows, self._columns, self._work, self._frames)
        add_events(events.x, events.y, events.t - self._t_first, *state)

    def value(self) -> float:
        """Return the area for the events so far."""
        return self.curve().aocc

    def curve(self) -> AoccCurve:
        """Return the curve of the events so far."""
        from evcrisp.kernels.metrics.aocc import end_windows

        durations = self._windows[:, 0].copy()
        if self._t_first is None:
            nothing = np.zeros(durations.size, np.int64)
            return AoccCurve(math.nan, durations, np.full(durations.size, math.nan), nothing)
        windows, frames = self._windows.copy(), self._frames.copy()
        end = int(windows[:, 1].max())
        end_windows(end, self._surface, windows, self._rows, self._columns, self._work, frames)
        contrast = frames[:, 0] / frames[:, 1]
        area = 0.5 * float(np.sum(np.diff(durations) * (contrast[1:] + contrast[:-1])))
        return AoccCurve(area, durations, contrast, frames[:, 1].astype(np.int64))


def _reflected(size: int) -> NDArray[np.int64]:
    """Return the reflected pixel for each index from -2 to size + 1."""
    index = np.abs(np.arange(-2, size + 2))
    if size == 1:
        return np.zeros_like(index)
    period = 2 * (size - 1)
    index %= period
    return np.minimum(index, period - index)
