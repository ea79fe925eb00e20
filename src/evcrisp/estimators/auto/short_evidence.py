"""Support from neighbors in space and time, without any motion."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bools, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import IndexedWindow

if TYPE_CHECKING:
    from evcrisp.kernels.auto.short_evidence import Readers

#: Events of a cluster of noise lie within this time, s, or this share of a short window.
NEAR_S, NEAR_SHARE = 0.0025, 0.1


class Part(NamedTuple):
    """A part of a window for a test."""

    first: int  # event
    last: int  # event after the part
    events: NDArray[np.intp]  # (j,) tested events of the part, increasing
    samples: NDArray[np.intp]  # (k,) noise samples, increasing

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
    noise, read = window.samples, events[:4]
    ranks = np.argsort(noise.t, kind="stable")
    if part is not None:
        read = tuple(part.of(column) for column in read)
        events = tuple(column[part.first : part.last] for column in events)
        ranks = part.samples[np.argsort(noise.t[part.samples], kind="stable")]
    readers = _readers(*read, n_reaches=reaches.size)
    columns = (column[ranks] for column in (noise.x, noise.y, noise.p, noise.t))
    samples = _readers(*columns, n_reaches=reaches.size)
    short_evidence(
        *events, readers, samples, area, (1.0 / reaches).astype(np.float32),
        np.float32(min(NEAR_S / duration_s, NEAR_SHARE)),
        window.buffers.last_times(2 * area.rows * area.columns),
    )  # fmt: skip
    back = np.argsort(ranks, kind="stable")
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
