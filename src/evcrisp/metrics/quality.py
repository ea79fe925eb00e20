"""All that can be said about a recording without knowing the truth, in one pass."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evcrisp.core.events import Events
from evcrisp.metrics.aocc import AoccCurve, AoccMeter
from evcrisp.metrics.chunks import checked
from evcrisp.metrics.entropy import entropy_of_counts
from evcrisp.metrics.esr_meter import SLICE_EVENTS, EsrMeter
from evcrisp.metrics.esr_report import EsrReport


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Quality:
    """Measures of one recording that need no truth."""

    n_events: int
    n_signal: int | None  # labeled as signal, where the events have labels
    duration_s: float
    rate_hz: float  # events per second; NaN without duration
    entropy_bits: float  # of blocks of 16 x 16 px
    esr: EsrReport
    aocc: AoccCurve

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers; those of the slices as means."""
        slices = self.esr.slices
        return {
            "n_events": self.n_events,
            "duration_s": self.duration_s,
            "rate_hz": self.rate_hz,
            "esr": self.esr.esr,
            "esr_v2": self.esr.esr_v2,
            "n_slices": self.esr.n_slices,
            "ntss": _mean(slices.ntss),
            "l_n": _mean(slices.l_n),
            "occupied_px": _mean(slices.occupied),
            "aocc": self.aocc.aocc,
            "entropy_bits": self.entropy_bits,
        }


class QualityMeter:
    """Takes a recording chunk by chunk, in bounded memory.

    Parameters
    ----------
    resolution : (int, int)
        ``(width, height)`` of the sensor, px.
    slice_events, slice_us
        Slices of the structural ratios, as for :func:`evcrisp.metrics.esr`.
    measures_aocc : bool
        Whether to measure the contrast curve, which takes most of the time; NaN otherwise.

    Examples
    --------
    >>> meter = QualityMeter((32, 16), slice_events=2)
    >>> meter.add(Events(x=[0, 1, 30, 31], y=[0] * 4, t=range(4), p=[1] * 4, resolution=(32, 16)))
    >>> quality = meter.quality()
    >>> quality.n_events, quality.esr.n_slices, quality.entropy_bits
    (4, 2, 1.0)
    """

    def __init__(
        self,
        resolution: tuple[int, int],
        *,
        slice_events: int = SLICE_EVENTS,
        slice_us: int | None = None,
        measures_aocc: bool = True,
    ) -> None:
        self._esr = EsrMeter(resolution, slice_events=slice_events, slice_us=slice_us)
        self._aocc = AoccMeter(resolution)
        self._measures_aocc = measures_aocc
        self._counts = np.zeros((resolution[1], resolution[0]), np.int64)
        self._t_first = self._t_last = 0
        self._n_events = 0
        self._n_signal: int | None = None

    def add(self, events: Events) -> None:
        """Take the next chunk in."""
        from evcrisp.kernels.auto.hot_pixels import count_pixels

        events = checked(events, self._esr.resolution)
        if len(events) == 0:
            return
        self._t_first = self._t_first if self._n_events else int(events.t[0])
        self._t_last = int(events.t[-1])
        self._n_events += len(events)
        if events.signal is not None:
            self._n_signal = (self._n_signal or 0) + int(np.count_nonzero(events.signal))
        self._esr.add(events)
        if self._measures_aocc:
            self._aocc.add(events)
        count_pixels(events.x, events.y, self._counts)

    def quality(self) -> Quality:
        """Return the measures of the events so far."""
        duration_s = (self._t_last - self._t_first) / 1e6
        return Quality(
            n_events=self._n_events,
            n_signal=self._n_signal,
            duration_s=duration_s,
            rate_hz=self._n_events / duration_s if duration_s else math.nan,
            entropy_bits=entropy_of_counts(self._counts),
            esr=self._esr.report(),
            aocc=self._aocc.curve(),
        )


def _mean(values: np.ndarray[Any, np.dtype[Any]]) -> float:
    return float(values.mean()) if values.size else math.nan
