"""What aligned events say about their motion, tile by tile."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bools, Bytes, Floats, Singles
from evcrisp.estimators.layers.misfit import events_for
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.significance import MIN_SIGNAL
from evcrisp.estimators.view_frame import ViewFrame

#: Positions in an array.
Indices = NDArray[np.intp]

#: Events that suffice on a sensor of 346 x 260 px; more take longer. On a larger one as many would be
#: so sparse that hardly two of them meet.
MAX_EVENTS = 16_384

#: Side of a tile, px.
TILE_PX = 16

#: Pixels of the sensor per pixel of the map; the same map as in the search.
_SCALE = 2.0

#: Room around the events on the map, px.
_MARGIN_PX = 8.0

#: Places of xx, xy, xy, yy among xx, xy, yy.
_TENSOR = [0, 1, 1, 2]

#: Events that suffice for the box around them.
_EXTENT_EVENTS = 2_048


@dataclass(frozen=True, slots=True, eq=False)
class MotionTerms:
    """Gradient and curvature of the contrast by the displacement of each tile, px per window.

    Tiles without events are left out. See `evcrisp.kernels.reliability.tile_terms`.
    """

    pull: Floats  # (k, 2) gradient
    bend: Floats  # (k, 2, 2) gradient by what changes with time as Legendre polynomials 2 and 3, px
    curvature: Floats  # (k, 2, 2) minus the second derivatives
    steepness: Floats  # (k, 3) products xx, xy, yy of the differences of the map, per px
    count: Floats  # (k,) events
    x: Floats  # (k,) middle of the tile, px
    y: Floats
    row: Indices  # (k,) position of the tile, in tiles
    column: Indices
    energy: float  # sum of squares of the map
    slopes: float  # sum of squares of its slopes, per px
    thinning: float  # events per event of the subsample

    @classmethod
    def of(
        cls, x: Floats, y: Floats, tau: Singles, p: Bytes, thinning: float = 1.0
    ) -> "MotionTerms":
        """Return the terms of events at aligned positions; ``tau`` is in windows since the middle."""
        from evcrisp.kernels.reliability.tile_terms import tile_terms

        left, top, width, height = _extent(x, y)
        rows, columns = -(-height // TILE_PX), -(-width // TILE_PX)
        pull, curvature = np.empty((rows, columns, 2)), np.empty((rows, columns, 3))
        bend, count = np.empty((rows, columns, 2, 2)), np.empty((rows, columns))
        steepness = np.empty((rows, columns, 3))
        energy, slopes = tile_terms(
            x - left, y - top, tau, p, _SCALE, _MARGIN_PX, (height, width), float(TILE_PX),
            pull, bend, curvature, steepness, count,
        )  # fmt: skip
        held = np.flatnonzero(count)
        row, column = np.divmod(held, columns)
        pull, tensor, steepness, bend, count = (
            part.reshape(rows * columns, -1)[held]
            for part in (pull, curvature, steepness, bend, count)
        )
        return cls(
            pull, bend.reshape(-1, 2, 2), tensor[:, _TENSOR].reshape(-1, 2, 2), steepness, count.ravel(),
            left + TILE_PX * (column + 0.5), top + TILE_PX * (row + 0.5), row, column,
            float(energy), float(slopes), thinning,
        )  # fmt: skip

    def __len__(self) -> int:
        return self.count.size

    @property
    def pair_thinning(self) -> float:
        """Pairs of events per pair of the subsample."""
        return self.thinning**2

    @property
    def lasting(self) -> float:
        """Share of the contrast of pairs that are far apart in time as often as events are, about 1.

        It is 0 if all events that meet do so at nearly the same time.
        """
        trace = float(self.curvature[:, 0, 0].sum() + self.curvature[:, 1, 1].sum())
        # Pairs of times spread evenly over the window have the mean square difference 1/6.
        return trace / max(self.slopes / 6.0, 1e-30)


def terms_of(result: Estimate, chosen: Bools, frame: ViewFrame | None = None) -> MotionTerms | None:
    """Return what chosen events say about their motion, on the sensor; None if they are too few.

    ``frame`` is that of an estimate on the rectangle of its events.
    """
    n_events = int(np.count_nonzero(chosen))
    if n_events < MIN_SIGNAL:
        return None
    from evcrisp.kernels.reliability.tile_terms import take_chosen

    window, events = result.window, result.window.events.contiguous()
    resolution = events.resolution if frame is None else frame.resolution
    # Evenly over the window.
    step = max(-(-n_events // events_for(resolution, MAX_EVENTS)), 1)
    n = -(-n_events // step)
    x, y = np.empty((2, n))
    tau, p = np.empty(n, np.float32), np.empty(n, np.uint8)
    aligned = (np.ascontiguousarray(column) for column in (result.aligned_x, result.aligned_y))
    take_chosen(
        *aligned, events.t, events.p.view(np.uint8), np.ascontiguousarray(chosen), step, window.t_ref,
        max(window.t_end - window.t_start, 1), x, y, tau, p,
    )  # fmt: skip
    if frame is not None:
        x, y = x + frame.left, y + frame.top
    terms = MotionTerms.of(x, y, tau, p, n_events / n)
    return terms if len(terms) else None


def _extent(x: Floats, y: Floats) -> tuple[float, float, int, int]:
    """Return left, top, width and height of the box of finite positions, whole tiles from zero, px."""
    if not x.size:
        return 0.0, 0.0, TILE_PX, TILE_PX
    # Single events that a motion throws far away must not determine the size of the map.
    step = max(x.size // _EXTENT_EVENTS, 1)
    sides = []
    for values in (x[::step], y[::step]):
        low = int(0.002 * values.size)
        high = values.size - 1 - low
        if not np.isfinite(values).all():
            values = np.nan_to_num(values, posinf=1e6, neginf=-1e6)
        ends = np.sort(values)  # `partition` takes longer
        first = TILE_PX * np.floor(ends[low] / TILE_PX)
        sides.append((float(first), int(ends[high] - first) + 1))
    (left, width), (top, height) = sides
    return left, top, min(width, 4096), min(height, 4096)
