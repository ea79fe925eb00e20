"""Metrics of a recording that need no truth, in one pass."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evcrisp.core.events import Events
from evcrisp.metrics.aocc import AoccCurve, AoccMeter
from evcrisp.metrics.chunks import checked
from evcrisp.metrics.entropy import EntropyMeter
from evcrisp.metrics.esr import SLICE_EVENTS, EsrMeter, EsrReport, mean_or_nan
from evcrisp.metrics.registry import Metric, own_metrics


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Quality:
    """Metrics of one recording that need no truth."""

    n_events: int
    n_signal: int | None  # events with the label signal; None without labels
    duration_s: float
    rate_hz: float  # events per second; NaN without duration
    entropy_bits: float  # of blocks of 16 x 16 px
    esr: EsrReport
    aocc: AoccCurve
    extra: Mapping[str, float] = field(default_factory=dict)  # values of own metrics by name
    titles: Mapping[str, str] = field(default_factory=dict)  # titles of own metrics by name

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers; those of slices as means."""
        slices = self.esr.slices
        return {
            "n_events": self.n_events,
            "duration_s": self.duration_s,
            "rate_hz": self.rate_hz,
            "esr": self.esr.esr,
            "esr_v2": self.esr.esr_v2,
            "n_slices": self.esr.n_slices,
            "ntss": mean_or_nan(slices.ntss),
            "l_n": mean_or_nan(slices.l_n),
            "occupied_px": mean_or_nan(slices.occupied),
            "aocc": self.aocc.aocc,
            "entropy_bits": self.entropy_bits,
            **self.extra,
        }


class QualityMeter:
    """Measures a recording chunk by chunk, in bounded memory.

    Parameters
    ----------
    resolution, slice_events, slice_us
        Sensor ``(width, height)``, px, and slices of the ESR, as for :func:`evcrisp.metrics.esr`.
    measures_aocc : bool
        Whether to measure the contrast curve, which takes most of the time; NaN otherwise.
    metrics : sequence of Metric, optional
        Further metrics. Default: all registered and installed metrics that are not built in.

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
        metrics: Sequence[Metric] | None = None,
    ) -> None:
        self._esr = EsrMeter(resolution, slice_events=slice_events, slice_us=slice_us)
        self._aocc = AoccMeter(resolution)
        self._entropy = EntropyMeter(resolution)
        self._metrics = own_metrics() if metrics is None else metrics
        self._extra = [metric.start(self._esr.resolution) for metric in self._metrics]
        self._meters = [self._esr, self._entropy, *self._extra]
        if measures_aocc:
            self._meters.append(self._aocc)
        self._t_first = self._t_last = self._n_events = 0
        self._n_signal: int | None = None

    def add(self, events: Events) -> None:
        """Add the next chunk."""
        events = checked(events, self._esr.resolution)
        if len(events) == 0:
            return
        self._t_first = self._t_first if self._n_events else int(events.t[0])
        self._t_last = int(events.t[-1])
        self._n_events += len(events)
        if events.signal is not None:
            self._n_signal = (self._n_signal or 0) + int(np.count_nonzero(events.signal))
        for meter in self._meters:
            meter.add(events)

    def quality(self) -> Quality:
        """Return the metrics of the events so far."""
        duration_s = (self._t_last - self._t_first) / 1e6
        names = [metric.name for metric in self._metrics]
        return Quality(
            n_events=self._n_events,
            n_signal=self._n_signal,
            duration_s=duration_s,
            rate_hz=self._n_events / duration_s if duration_s else math.nan,
            entropy_bits=self._entropy.value(),
            esr=self._esr.report(),
            aocc=self._aocc.curve(),
            extra={name: float(m.value()) for name, m in zip(names, self._extra, strict=True)},
            titles={metric.name: metric.title for metric in self._metrics},
        )
