"""Support from neighbors in space and time, without any motion."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bools, Bytes, Floats, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import IndexedWindow
from evcrisp.estimators.auto.noise_model import NoiseSamples

if TYPE_CHECKING:
    from evcrisp.kernels.auto.short_evidence import Readers

#: Events of a cluster of noise lie within this time, s, or this share of a short window.
NEAR_S, NEAR_SHARE = 0.0025, 0.1


class SamplesInTime(NamedTuple):
    """Noise samples in the order of time; arrays of shape (k,)."""

    x: Floats  # px
    y: Floats
    p: Bytes
    t: Singles  # in windows
    back: NDArray[np.intp]  # positions that bring them back to the order of their sources

    @classmethod
    def of(cls, samples: NoiseSamples, chosen: NDArray[np.intp]) -> "SamplesInTime":
        """Sort some of the samples."""
        ranks = chosen[np.argsort(samples.t[chosen], kind="stable")]
        back = np.argsort(ranks, kind="stable")
        return cls(samples.x[ranks], samples.y[ranks], samples.p[ranks], samples.t[ranks], back)


class Part(NamedTuple):
    """A part of a window for a test."""

    first: int  # event
    last: int  # event after the part
    events: NDArray[np.intp]  # (j,) tested events of the part, increasing
    samples: NDArray[np.intp]  # (k,) noise samples, increasing
    samples_in_time: SamplesInTime | None = None  # the same, if they are sorted

    def of(self, column: NDArray) -> NDArray:
        """Return the tested events of a column, which is in the order of time."""
        return column[self.events]


class ShortSupport(NamedTuple):
    """Support by neighbors in space and time; a row for each reach."""

    events: Singles  # (r, n)
    samples: Singles  # (r, m)
    near: (
        Singles  # (2, n) neighbors of an event at almost the same time: their contrast, and number
    )
    sample_near: Singles  # (2, m)


def short_support(
    window: IndexedWindow,
    reaches_s: tuple[float, ...],
    supporting: Bools,
    order: Integers | None = None,
    part: Part | None = None,
) -> ShortSupport:
    """Return the support of events and noise samples, which fades over each of the reaches, s.

    Events in ``supporting``, shape (n,), support others. ``order``, shape (n,), is that of the events
    of the window in time, if they are not in it; the support is in the order of time. Events beyond a
    ``part`` of the window are as if they were not there.
    """
    from evcrisp.kernels.auto.short_evidence import MAX_REACH, Area, short_evidence

    extent, pixels, duration_s = window.extent, window.pixels, window.data.duration_s
    area = Area(extent.left, extent.top, extent.height + 2, extent.width + 2)
    reaches = np.minimum(np.array(reaches_s) / duration_s, MAX_REACH)
    events = pixels.x, pixels.y, window.p, window.t[: window.p.size], supporting
    if order is not None:
        events = tuple(in_time(column, order) for column in events)
    read, samples_in_time = events[:4], None
    if part is not None:
        read, samples_in_time = tuple(part.of(column) for column in read), part.samples_in_time
        events = tuple(column[part.first : part.last] for column in events)
    if samples_in_time is None:
        chosen = np.arange(window.samples.t.size) if part is None else part.samples
        samples_in_time = SamplesInTime.of(window.samples, chosen)
    *columns, back = samples_in_time
    readers = _readers(*read, n_reaches=reaches.size)
    samples = _readers(*columns, n_reaches=reaches.size)
    short_evidence(
        *events, readers, samples, area, (1.0 / reaches).astype(np.float32),
        np.float32(min(NEAR_S / duration_s, NEAR_SHARE)),
        window.buffers.last_times(2 * area.rows * area.columns),
    )  # fmt: skip
    return ShortSupport(
        readers.support, samples.support[:, back], readers.near, samples.near[:, back]
    )


def in_time(column: NDArray, order: Integers) -> NDArray:
    """Return a column in the order of time."""
    out = np.empty_like(column)
    out[order] = column
    return out


def _readers(x: NDArray, y: NDArray, p: NDArray, t: NDArray, n_reaches: int) -> "Readers":
    from evcrisp.kernels.auto.short_evidence import Readers

    columns = (np.ascontiguousarray(column) for column in (x, y, p, t))
    support, near = np.empty((n_reaches, t.size), np.float32), np.empty((2, t.size), np.float32)
    return Readers(*columns, support, near)
