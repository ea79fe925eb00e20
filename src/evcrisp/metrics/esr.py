"""Event structural ratio (ESR, MESR): difference of events from uniform noise."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.events import Events
from evcrisp.core.types import Floats
from evcrisp.core.validation import as_resolution, check_number
from evcrisp.metrics.chunks import checked, read_chunks
from evcrisp.metrics.control import random_chunks

#: Number of events of a slice in E-MLB.
SLICE_EVENTS = 30_000

#: Largest tabulated count per pixel: 1 - 2^-64 is 1 in float64.
_MAX_COUNT = 64


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EsrSlices:
    """One value per slice, shape (m,)."""

    n_events: NDArray[np.int64]
    occupied: NDArray[np.int64]  # pixels with events
    ntss: Floats  # probability that two events of the slice share a pixel
    l_n: Floats  # expected number of pixels with one of two thirds of the events
    esr: Floats
    esr_v2: Floats

    def __len__(self) -> int:
        return self.esr.size


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EsrReport:
    """Mean ratios of a recording and their controls.

    The last five fields are NaN without the raw recording. Compare ``esr`` with ``random_esr``,
    which random deletion of as many events reaches.
    """

    esr: float  # mean over the slices (MESR), version 1
    esr_v2: float  # mean over the slices, version 2
    slices: EsrSlices
    n_events: int  # of the recording, the incomplete last slice included
    n_empty: int  # time slices without events, excluded from the means
    slicing: str  # "30000 events" or "33000 us"
    retention: float = math.nan  # share of the raw events
    raw_esr: float = math.nan
    raw_esr_v2: float = math.nan
    random_esr: float = math.nan  # of as many events, drawn from the raw ones
    random_esr_v2: float = math.nan

    @property
    def n_slices(self) -> int:
        """Number of slices of the means."""
        return len(self.slices)

    def with_controls(self, raw: "EsrReport", random: "EsrReport") -> "EsrReport":
        """Return the report with retention and the ratios of two controls."""
        if self.n_events > raw.n_events:
            raise EventDataError(
                f"The events must be a subset of the raw ones; got {self.n_events} of "
                f"{raw.n_events} raw events. Give the recording from which they were taken."
            )
        return replace(
            self,
            retention=self.n_events / raw.n_events if raw.n_events else math.nan,
            raw_esr=raw.esr,
            raw_esr_v2=raw.esr_v2,
            random_esr=random.esr,
            random_esr_v2=random.esr_v2,
        )


def esr(
    events: Events | Iterable[Events],
    *,
    raw: Events | Iterable[Events] | None = None,
    slice_events: int = SLICE_EVENTS,
    slice_us: int | None = None,
    seed: int = 0,
) -> EsrReport:
    r"""Return the event structural ratios of a recording, as defined by E-MLB.

    With the counts :math:`n_k` of the pixels of a slice, :math:`N = \sum n_k` and
    :math:`M = \lfloor 2N/3 \rfloor`,

    .. math::

        \mathrm{ESR} = \sqrt{\mathrm{NTSS} \, L_N}, \quad
        \mathrm{NTSS} = \frac{\sum n_k (n_k - 1)}{N (N - 1)}, \quad
        L_N = \sum_k 1 - (1 - M/N)^{n_k}.

    Version 2 uses the 3 x 3 medians :math:`m_k` of the counts, with zeros outside, and all
    :math:`K` pixels of the sensor:
    :math:`1000 \sqrt{\sum m_k^2 / N^2 \cdot (K - \sum 2^{-m_k}) / K}`. Polarity has no effect, nor
    has the order within a slice. One event has the ratio 0. The size of the slice affects the ratio
    more than most denoisers: compare equal slices only.

    Parameters
    ----------
    events : Events or iterable of Events
        Events to measure; chunks are read once.
    raw : Events or iterable of Events, optional
        Events before denoising, for retention and controls; read twice, so no generator.
    slice_events, slice_us : int
        Events of a slice, or its duration, us. Incomplete last ones are dropped; NaN without any.
    seed : int
        Seed of the random control.

    Raises
    ------
    EventDataError
        If ``raw`` can be read only once, or has fewer events than ``events``.

    Examples
    --------
    >>> x = [0, 0, 1, 2, 2, 2]
    >>> events = Events(x=x, y=[0] * 6, t=range(6), p=[1] * 6, resolution=(4, 1))
    >>> report = esr(events, slice_events=6)
    >>> round(report.esr, 6), report.n_slices
    (0.819515, 1)
    """
    if isinstance(raw, Iterator):
        raise EventDataError(
            f"`raw` is read twice; got a {type(raw).__name__}, which can be read once. Give Events "
            "or a list of chunks: recording.read(), or list(recording.chunks())."
        )

    start = partial(EsrMeter, slice_events=slice_events, slice_us=slice_us)

    def measure(source: Events | Iterable[Events]) -> EsrReport:
        return (read_chunks(source, start) or start((1, 1))).report()

    own = measure(events)
    if raw is None:
        return own
    base = measure(raw)
    n_kept = min(own.n_events, base.n_events)
    random = measure(random_chunks(raw, n_kept, n_total=base.n_events, seed=seed))
    return own.with_controls(base, random)


class EsrMeter:
    """Measures the ESR chunk by chunk, in bounded memory; see :func:`esr`."""

    def __init__(
        self,
        resolution: tuple[int, int],
        *,
        slice_events: int = SLICE_EVENTS,
        slice_us: int | None = None,
    ) -> None:
        check_number("slice_events", slice_events, 1, whole=True)
        if slice_events >= 2**31:
            raise ConfigError("must be below 2^31", parameter="slice_events", value=slice_events)
        if slice_us is not None:
            check_number("slice_us", slice_us, 1, whole=True)
        self.resolution = as_resolution(resolution)
        self._slice_events = int(slice_events)
        self._slice_us = None if slice_us is None else int(slice_us)
        width, height = self.resolution
        self._counts = np.zeros((height + 2, width + 2), np.int32)
        self._lines = np.zeros((4, width + 2), np.int32)
        self._t_start: int | None = None
        self._n_in_slice = self._n_events = self._n_empty = 0
        self._rows: list[tuple[float, ...]] = []

    def add(self, events: Events) -> None:
        """Add the next chunk."""
        events = checked(events, self.resolution)
        if len(events) == 0:
            return
        self._n_events += len(events)
        if self._slice_us is None:
            self._add_by_count(events)
        else:
            self._add_by_time(events, self._slice_us)

    def value(self) -> float:
        """Return the mean ESR of the slices so far."""
        return self.report().esr

    def report(self) -> EsrReport:
        """Return the means of the slices so far."""
        n_events, occupied, ntss, l_n, first, second = np.array(self._rows).reshape(-1, 6).T
        counts = {"n_events": n_events.astype(np.int64), "occupied": occupied.astype(np.int64)}
        slices = EsrSlices(**counts, ntss=ntss, l_n=l_n, esr=first, esr_v2=second)
        by_count = f"{self._slice_events} event{'' if self._slice_events == 1 else 's'}"
        return EsrReport(
            esr=mean_or_nan(first),
            esr_v2=mean_or_nan(second),
            slices=slices,
            n_events=self._n_events,
            n_empty=self._n_empty,
            slicing=by_count if self._slice_us is None else f"{self._slice_us} us",
        )

    def _add_by_count(self, events: Events) -> None:
        first = 0
        while first < len(events):
            last = min(len(events), first + self._slice_events - self._n_in_slice)
            self._count(events, first, last)
            first = last
            if self._n_in_slice == self._slice_events:
                self._end_slice()

    def _add_by_time(self, events: Events, slice_us: int) -> None:
        t_start = int(events.t[0]) if self._t_start is None else self._t_start
        first = 0
        while True:
            last = int(np.searchsorted(events.t, t_start + slice_us))
            self._count(events, first, last)
            if last == len(events):
                break
            n_passed = (int(events.t[last]) - t_start) // slice_us
            self._n_empty += n_passed - 1
            self._end_slice()
            t_start += n_passed * slice_us
            first = last
        self._t_start = t_start

    def _count(self, events: Events, first: int, last: int) -> None:
        from evcrisp.kernels.metrics.esr import count_padded

        count_padded(events.x[first:last], events.y[first:last], self._counts)
        self._n_in_slice += last - first

    def _end_slice(self) -> None:
        from evcrisp.kernels.metrics.esr import sum_counts, sum_medians

        n = self._n_in_slice
        pairs, l_n, occupied = sum_counts(self._counts, _reached(1.0 - (2 * n // 3) / n))
        squares, reached = sum_medians(self._counts, _reached(0.5), self._lines)
        ntss = pairs / (n * (n - 1)) if n > 1 else 0.0
        n_pixels = self.resolution[0] * self.resolution[1]
        first = math.sqrt(ntss * l_n)
        second = 1000.0 * math.sqrt(squares / (n * n) * (reached / n_pixels))
        self._rows.append((n, occupied, ntss, l_n, first, second))
        self._counts.fill(0)
        self._n_in_slice = 0


class EsrV2Meter(EsrMeter):
    """Measures version 2 of the ESR."""

    def value(self) -> float:
        """Return the mean ESR, version 2, of the slices so far."""
        return self.report().esr_v2


def mean_or_nan(values: NDArray[Any]) -> float:
    """Return the mean; NaN without values."""
    return float(values.mean()) if values.size else math.nan


def _reached(missed: float) -> Floats:
    """Return ``1 - missed**n`` for n = 0 to ``_MAX_COUNT``."""
    return 1.0 - np.power(missed, np.arange(_MAX_COUNT + 1))
