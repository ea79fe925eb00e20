"""Places of layers and of their regions, from counts: without copies of their events.

The same regions and boxes as those of `Estimate.objects`, and of `Layer.box`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.estimators.layer import (
    BEYOND,
    BOX_EVENTS,
    LEAST_CELL_EVENTS,
    MASK_CELL_PX,
    LayerBox,
)

#: Cells have this power of two as their side.
_CELL_BITS = MASK_CELL_PX.bit_length() - 1

#: Region of cells that do not count.
_NONE = -1


class Region(NamedTuple):
    """A part of a layer: its number of events, and its box."""

    n_events: int
    box: LayerBox


def regions_of(
    events: Events, layer: NDArray[np.int16], index: int, min_events: int
) -> list[Region]:
    """Return the connected regions of a layer with enough events, as `Estimate.objects` has them.

    ``layer``, shape (n,), is that of each event.
    """
    from evcrisp.kernels.layers.regions import connected_regions

    counts = _counts(events, layer, index)
    region = np.empty(counts.shape, np.int32)
    n_regions = connected_regions(counts >= LEAST_CELL_EVENTS, region)
    sizes = np.bincount(region.ravel() + 1, counts.ravel(), n_regions + 1)[1:].astype(np.int64)
    large = np.flatnonzero(sizes >= min_events)
    number = np.full(n_regions + 1, _NONE, np.int32)
    number[large] = np.arange(large.size)
    return _measured(events, layer, index, number[region], sizes[large])


def whole_layer(events: Events, layer: NDArray[np.int16], index: int) -> Region | None:
    """Return a layer as one region, with all of its events; None if it has none."""
    counts = _counts(events, layer, index)
    sizes = counts.sum(keepdims=True).ravel()
    if not sizes[0]:
        return None
    return _measured(events, layer, index, np.zeros(counts.shape, np.int32), sizes)[0]


def _counts(events: Events, layer: NDArray[np.int16], index: int) -> NDArray[np.int64]:
    """Return the events of a layer in each cell, shape (rows, columns)."""
    from evcrisp.kernels.pipeline.window_objects import count_layer

    events, (width, height) = events.contiguous(), events.resolution
    counts = np.empty((-(-height // MASK_CELL_PX), -(-width // MASK_CELL_PX)), np.int64)
    count_layer(events.x, events.y, layer, index, _CELL_BITS, counts)
    return counts


def _measured(
    events: Events,
    layer: NDArray[np.int16],
    index: int,
    region: NDArray[np.int32],
    sizes: NDArray[np.int64],
) -> list[Region]:
    """Return regions with their boxes; ``region`` is that of each cell, ``sizes`` are their events."""
    from evcrisp.kernels.pipeline.window_objects import spread_of_regions

    events, (width, height) = events.contiguous(), events.resolution
    step = np.maximum(sizes // BOX_EVENTS, 1)
    across, down = (np.empty((sizes.size, side), np.int32) for side in (width, height))
    spread_of_regions(events.x, events.y, layer, index, _CELL_BITS, region, step, across, down)
    n_counted = -(-sizes // step)
    beyond = (BEYOND * (n_counted - 1)).astype(np.int64)
    (left, right), (top, bottom) = (_ends(counts, n_counted, beyond) for counts in (across, down))
    boxes = np.stack((left, top, right - left + 1, bottom - top + 1), axis=-1).astype(np.float64)
    pairs = zip(sizes.tolist(), boxes.tolist(), strict=True)
    return [Region(n, (box[0], box[1], box[2], box[3])) for n, box in pairs]


def _ends(
    counts: NDArray[np.int32], n_counted: NDArray[np.int64], beyond: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the last place beyond which so many of the counted events lie, (k,) each."""
    reached = np.cumsum(counts, axis=1)
    first = (reached > beyond[:, None]).argmax(axis=1)
    last = (reached > (n_counted - 1 - beyond)[:, None]).argmax(axis=1)
    return first, last
