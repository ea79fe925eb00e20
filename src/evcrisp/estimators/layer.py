"""Layers of a window: events that share one motion, and where each motion holds."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.doubt import Doubt
from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.motion.protocol import MotionModel
from evcrisp.motion.velocity import velocity_of, velocity_rates

#: Side of the cells of a mask, px.
MASK_CELL_PX = 8

#: Events of a cell that belongs to a region.
LEAST_CELL_EVENTS = 3

#: Share of the events beyond each side of a box.
BEYOND = 0.01

#: Events that suffice for a box.
BOX_EVENTS = 2_000

#: Left, top, width and height, px.
LayerBox = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LayerMotion:
    """Motion of a layer.

    Attributes
    ----------
    motion, theta : MotionModel, ndarray of shape (m,)
        Model and its parameters.
    covariance : ndarray, shape (m, m), or None
        Covariance of ``theta``; None where it is not known.
    doubts : tuple of Doubt
        Reasons not to use the motion of this layer as it is.
    id : int
        The same number for the same layer in the windows of a recording.
    """

    motion: MotionModel
    theta: Floats
    covariance: Floats | None = None
    doubts: tuple[Doubt, ...] = ()
    id: int = 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Layer(LayerMotion):
    """Motion of a layer, and its events; see also :class:`LayerMotion`."""

    index: int  # position in `Estimate.layers`, and value of `Estimate.layer`
    events: Events  # signal of the layer

    @property
    def box(self) -> LayerBox:
        """Left, top, width and height of the region with 98 % of the events along each axis, px.

        Without events all four are 0.
        """
        if not len(self.events):
            return 0.0, 0.0, 0.0, 0.0
        step = max(len(self.events) // BOX_EVENTS, 1)
        x, y = np.sort(self.events.x[::step]), np.sort(self.events.y[::step])
        first = int(BEYOND * (x.size - 1))
        left, top = float(x[first]), float(y[first])
        return left, top, float(x[-1 - first]) - left + 1.0, float(y[-1 - first]) - top + 1.0

    @property
    def center(self) -> tuple[float, float]:
        """Middle of the box, px."""
        left, top, width, height = self.box
        return left + 0.5 * (width - 1.0), top + 0.5 * (height - 1.0)

    @property
    def velocity(self) -> Floats:
        """Velocity at the middle of the box at the reference time, shape (2,), px/s."""
        x, y = self.center
        return velocity_of(self.motion, self.theta, [x], [y], [0.0])[0]

    @property
    def velocity_std(self) -> Floats:
        """Standard deviations of `velocity`, shape (2,), px/s; NaN where they are not known."""
        if self.covariance is None:
            return np.full(2, np.nan)
        x, y = self.center
        rates = velocity_rates(self.motion, self.theta, x, y)
        return np.sqrt(np.einsum("ia,ab,ib->i", rates, self.covariance, rates))

    @property
    def mask(self) -> Bools:
        """Pixels in cells of 8 px that hold events of the layer, or touch such a cell, (h, w)."""
        return near_events(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        vx, vy = self.velocity
        left, top, width, height = self.box
        return (
            f"Layer(id={self.id}, {self.motion.name}, velocity=({vx:.1f}, {vy:.1f}) px/s, "
            f"{len(self.events)} events in {width:.0f}x{height:.0f} px at ({left:.0f}, {top:.0f}))"
        )


def slices_at(share: Floats, n_slices: int) -> NDArray[np.intp]:
    """Return the slice of times, given in windows since the start, 0 to 1.

    A time on the border belongs to the later slice, whichever way ``share`` was rounded: in windows
    up to 100 s, other times are further away from it than the tolerance.

    >>> slices_at(np.array([0.0, 0.1 + 0.2333333333333333, 1.0]), 3).tolist()
    [0, 1, 2]
    """
    return (share * n_slices + 1e-9).astype(np.intp).clip(0, n_slices - 1)


@dataclass(frozen=True, slots=True, eq=False)
class LayerMap:
    """Layer that holds in each cell of the view, in each slice of the window.

    Beyond the cells, that of the nearest one holds.
    """

    index: NDArray[np.int16]  # (n_slices, rows, columns)
    cell_px: int
    left: int = 0  # of the first cell, px of the sensor
    top: int = 0

    def at(self, x: ArrayLike, y: ArrayLike, share: ArrayLike) -> NDArray[np.int16]:
        """Return the layer at pixels; ``share`` is the time in windows since the start, 0 to 1."""
        slices = slices_at(np.asarray(share, np.float64), len(self.index))
        row = (np.asarray(y, np.intp) - self.top) // self.cell_px
        column = (np.asarray(x, np.intp) - self.left) // self.cell_px
        rows, columns = self.index.shape[1:]
        return self.index[slices, row.clip(0, rows - 1), column.clip(0, columns - 1)]


def split_by_region(layer: Layer, min_events: int) -> list[Layer]:
    """Return the connected regions of a layer as layers: objects with its motion.

    Cells of 8 px with three events or more belong to a region; regions of fewer than ``min_events``
    are left out.
    """
    from evcrisp.kernels.layers.regions import connected_regions

    events = layer.events
    width, height = events.resolution
    rows, columns = -(-height // MASK_CELL_PX), -(-width // MASK_CELL_PX)
    row, column = events.y // MASK_CELL_PX, events.x // MASK_CELL_PX
    cell = row.astype(np.intp) * columns + column
    counts = np.bincount(cell, minlength=rows * columns).reshape(rows, columns)
    region = np.empty((rows, columns), np.int32)
    n_regions = connected_regions(counts >= LEAST_CELL_EVENTS, region)
    # Numbers of 16 bits are sorted in linear time; a layer has fewer cells than they count.
    kind = np.int16 if n_regions < np.iinfo(np.int16).max else np.int32
    of_event = region.reshape(-1)[cell].astype(kind)
    ends = np.cumsum(np.bincount(of_event + 1, minlength=n_regions + 1))
    large = [k for k in range(n_regions) if ends[k + 1] - ends[k] >= min_events]
    if not large:
        return []
    order = np.argsort(of_event, kind="stable")
    x, y, t, p = events.x[order], events.y[order], events.t[order], events.p[order]
    signal = None if events.signal is None else events.signal[order]
    regions = []
    for k in large:
        part = slice(ends[k], ends[k + 1])
        labels = None if signal is None else signal[part]
        inside = Events.trusted(x[part], y[part], t[part], p[part], events.resolution, labels)
        regions.append(replace(layer, events=inside))
    return regions


def near_events(events: Events) -> Bools:
    """Return the pixels in cells with events, and in the cells that touch one, shape (h, w)."""
    width, height = events.resolution
    rows, columns = -(-height // MASK_CELL_PX), -(-width // MASK_CELL_PX)
    cells = np.zeros((rows + 2, columns + 2), np.bool_)
    cells[events.y // MASK_CELL_PX + 1, events.x // MASK_CELL_PX + 1] = True
    cells[1:-1] |= cells[:-2] | cells[2:]
    cells[:, 1:-1] |= cells[:, :-2] | cells[:, 2:]
    pixels = cells[1:-1, 1:-1].repeat(MASK_CELL_PX, axis=0).repeat(MASK_CELL_PX, axis=1)
    return pixels[:height, :width]
