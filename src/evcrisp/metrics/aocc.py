"""Area of the continuous contrast curve (AOCC): contrast of event frames of growing length."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Floats
from evcrisp.core.validation import as_resolution
from evcrisp.metrics.chunks import checked, chunks_of

#: Lengths of the frames, us.
DURATIONS_US = tuple(range(2_000, 200_001, 2_000))


@dataclass(frozen=True, slots=True, eq=False)
class AoccCurve:
    """The curve and the area under it; NaN without events."""

    aocc: float  # contrast times us
    durations_us: NDArray[np.int64]  # (100,)
    contrast: Floats  # (100,) mean over the frames of one length
    n_frames: NDArray[np.int64]  # (100,) with events


def aocc(events: Events | Iterable[Events]) -> AoccCurve:
    """Return the contrast of event frames against their length, and the area under that curve.

    For each length of 2, 4, ..., 200 ms the recording is cut from its first event on. A frame is
    255 where a pixel fired and 0 elsewhere; it is blurred by a Gaussian (5 x 5, sigma 2, rounded to
    8 bits), and its contrast is the standard deviation of the length of Sobel's gradient. The curve
    is the mean over the frames with events, an incomplete last one included; the area is by
    trapezoids over the length in us.

    Parameters
    ----------
    events : Events or iterable of Events
        Chunks are read once; memory does not grow with the recording.

    Notes
    -----
    Rounding is that of OpenCV's blur of 8-bit images. Polarity does not matter.
    A second of recording costs some 2600 frames, whatever the number of events.

    Examples
    --------
    >>> edge = Events(x=[4] * 8, y=range(8), t=range(8), p=[1] * 8, resolution=(9, 8))
    >>> curve = aocc(edge)
    >>> round(float(curve.contrast[0]), 3), round(curve.aocc / 198_000, 3)
    (87.258, 87.258)
    """
    meter: AoccMeter | None = None
    for chunk in chunks_of(events):
        meter = meter or AoccMeter(chunk.resolution)
        meter.add(chunk)
    return (meter or AoccMeter((1, 1))).curve()


class AoccMeter:
    """Takes a recording chunk by chunk, in bounded memory; see :func:`aocc`."""

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
        """Take the next chunk in."""
        from evcrisp.kernels.metrics.aocc import add_events

        events = checked(events, self.resolution)
        if len(events) == 0:
            return
        if self._t_first is None:
            self._t_first = int(events.t[0])
        add_events(
            events.x,
            events.y,
            events.t - self._t_first,
            self._surface,
            self._windows,
            self._rows,
            self._columns,
            self._work,
            self._frames,
        )

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
    """Return which pixel stands for each of -2 to size + 1 when the outermost ones are mirrors."""
    places = np.abs(np.arange(-2, size + 2))
    if size == 1:
        return np.zeros_like(places)
    period = 2 * (size - 1)
    places %= period
    return np.minimum(places, period - places)
