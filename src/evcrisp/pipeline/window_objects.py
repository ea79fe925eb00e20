"""Objects of a window as numbers, without their events: what layers.csv needs of them.

Their regions and boxes come from counts, without copies of events. They are those of `Estimate.objects`, and of
`Layer.box`.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.doubt import Doubt
from evcrisp.core.events import Events
from evcrisp.estimators.layer import (
    BEYOND,
    BOX_EVENTS,
    LEAST_CELL_EVENTS,
    MASK_CELL_PX,
    LayerBox,
)
from evcrisp.estimators.result import MIN_OBJECT_EVENTS, Estimate
from evcrisp.motion.open_motion import affine_at_each
from evcrisp.motion.velocity import velocity_of, velocity_rates_at

#: Cells have this power of two as their side.
_CELL_BITS = MASK_CELL_PX.bit_length() - 1

#: Region of cells that do not count.
_NONE = -1


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """An object: its layer, place and velocity."""

    index: int  # of its layer
    n_events: int
    box: tuple[float, float, float, float]  # left, top, width, height, px
    velocity: tuple[float, float]  # px/s
    matrix: tuple[float, ...]  # (4,) change of the velocity over the region, row by row, 1/s
    std: tuple[float, float]  # px/s
    doubts: str  # codes

    @property
    def cells(self) -> tuple[float, ...]:
        """Box, velocity, its change over the region, and its standard deviations."""
        return *self.box, *self.velocity, *self.matrix, *self.std


@dataclass(frozen=True, slots=True)
class WindowObjects:
    """Times of a window, us, and its objects."""

    t_start: int
    t_end: int
    t_ref: int
    has_motion: bool
    objects: tuple[ObjectFacts, ...]

    @classmethod
    def of(cls, result: Estimate) -> "WindowObjects":
        """Return the objects of an estimate."""
        window, has_motion = result.window, result.status.has_motion
        n_layers = len(result.layer_motions) if has_motion else 0
        facts = tuple(facts for index in range(n_layers) for facts in _facts_of(result, index))
        return cls(window.t_start, window.t_end, window.t_ref, has_motion, facts)

    def as_json(self) -> dict[str, Any]:
        """Return JSON types."""
        return asdict(self)

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> "WindowObjects":
        """Return what `as_json` was made from."""
        objects = tuple(ObjectFacts(**thing) for thing in facts["objects"])
        times = (facts[name] for name in ("t_start", "t_end", "t_ref"))
        return cls(*times, facts["has_motion"], objects)


def _facts_of(result: Estimate, index: int) -> list[ObjectFacts]:
    """Return the objects of a layer; their velocities are found at once."""
    layer = result.layer_motions[index]
    regions = regions_of(result.window.events, result.layer, index, MIN_OBJECT_EVENTS)
    if not regions:
        return []
    left, top, width, height = np.array([region.box for region in regions]).T
    x, y = left + 0.5 * (width - 1.0), top + 0.5 * (height - 1.0)
    velocity = velocity_of(layer.motion, layer.theta, x, y, np.zeros(x.size)).tolist()
    matrix = affine_at_each(layer.motion, layer.theta, x, y)[:, 2:].tolist()
    std = np.full((x.size, 2), np.nan)
    if layer.covariance is not None:
        rates = velocity_rates_at(layer.motion, layer.theta, x, y)
        std = np.sqrt(np.einsum("kia,ab,kib->ki", rates, layer.covariance, rates))
    doubts = codes_of(layer.doubts)
    rows = zip(regions, velocity, matrix, std.tolist(), strict=True)
    return [
        ObjectFacts(
            index, region.n_events, region.box, (v[0], v[1]), tuple(m), (s[0], s[1]), doubts
        )
        for region, v, m, s in rows
    ]


def codes_of(doubts: Iterable[Doubt]) -> str:
    """Return the codes of doubts in one cell, with blanks between them."""
    return " ".join(doubt.code for doubt in doubts)


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
