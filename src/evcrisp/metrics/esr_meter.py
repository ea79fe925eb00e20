"""Event structural ratios of a stream, slice by slice."""

import math
import numbers
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.validation import as_resolution
from evcrisp.metrics.chunks import checked
from evcrisp.metrics.esr_report import EsrReport, EsrSlices

#: Slices of E-MLB, events.
SLICE_EVENTS = 30_000

#: Counts beyond this have reached all that a pixel can add: 1 - 2^-64 is 1 in float64.
_TABLE = 64


class EsrMeter:
    """Takes a recording chunk by chunk, in bounded memory; see :func:`evcrisp.metrics.esr`."""

    def __init__(
        self,
        resolution: tuple[int, int],
        *,
        slice_events: int = SLICE_EVENTS,
        slice_us: int | None = None,
    ) -> None:
        for name, value in (("slice_events", slice_events), ("slice_us", slice_us)):
            if value is not None and not (isinstance(value, numbers.Integral) and value >= 1):
                raise ConfigError(f"`{name}` must be 1 or more, a whole number; got {value}.")
        if slice_events >= 2**31:
            raise ConfigError(f"`slice_events` must be below 2^31; got {slice_events}.")
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
        """Take the next chunk in."""
        events = checked(events, self.resolution)
        if len(events) == 0:
            return
        self._n_events += len(events)
        if self._slice_us is None:
            self._add_by_count(events)
        else:
            self._add_by_time(events, self._slice_us)

    def report(self) -> EsrReport:
        """Return the means of the slices so far."""
        columns = np.array(self._rows).reshape(-1, len(fields(EsrSlices))).T
        n_events, occupied, ntss, l_n, first, second = columns
        slices = EsrSlices(
            n_events=n_events.astype(np.int64),
            occupied=occupied.astype(np.int64),
            ntss=ntss,
            l_n=l_n,
            esr=first,
            esr_v2=second,
        )
        by_count = f"{self._slice_events} event{'' if self._slice_events == 1 else 's'}"
        return EsrReport(
            esr=float(first.mean()) if first.size else math.nan,
            esr_v2=float(second.mean()) if second.size else math.nan,
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
        from evcrisp.kernels.metrics.esr import count_framed

        count_framed(events.x[first:last], events.y[first:last], self._counts)
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


def _reached(missed: float) -> NDArray[np.float64]:
    """Return ``1 - missed**n`` for n = 0 to the end of the table."""
    return 1.0 - np.power(missed, np.arange(_TABLE + 1))
