"""View of the events of a window: the rectangle of the outermost ones; and a subsample of them.

Nothing here depends on the order of the events, on the declared sensor, or on a direction. The view
moves with the events when a sensor is cut elsewhere, and is mirrored with them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel, PreparedWarp
from evcrisp.motion.protocol import camera_of

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom

_SALT = 0x9E3779B1  # golden ratio times 2^32: multiples are far apart
_BAND = 0.1  # width of the band along a side in which events count as near, per size of the view


@dataclass(frozen=True, slots=True)
class EventView:
    """Rectangle that contains all events of a window."""

    points: Rectangle  # in the unit of the points of a `PreparedWarp`: px, or slopes of rays
    sides_px: Rectangle  # sides of the outermost pixels, on the undistorted sensor

    @classmethod
    def of(cls, warp: PreparedWarp) -> "EventView":
        """Return the view of events, one or more."""
        left, right = float(warp.x.min()), float(warp.x.max())
        top, bottom = float(warp.y.min()), float(warp.y.max())
        points = left, top, right, bottom
        if warp.model.uses_rays:
            corners = warp.of(np.array([left, right]), np.array([top, bottom]), np.zeros(2))
            across, down = corners.warp(np.zeros(len(warp.model.param_names)))
            (left, right), (top, bottom) = across.tolist(), down.tolist()
        return cls(points, (left - 0.5, top - 0.5, right + 0.5, bottom + 0.5))

    @property
    def center_px(self) -> tuple[float, float]:
        """Middle of the view; a pixel of every map of the search."""
        left, top, right, bottom = self.sides_px
        return 0.5 * (left + right), 0.5 * (top + bottom)

    def density_at_sides(self, warp: PreparedWarp) -> Floats:
        """Return the relative density of events near the upper, lower, left, right side, (4,).

        It counts at most 1, and no more than the events of the first half of the time, or those of
        the second half, give: the end of a thing that moves is no border.
        """
        from evcrisp.kernels.search.array_ops import count_at_ends

        left, top, right, bottom = self.points
        middle, counts = 0.5 * float(warp.dt[0] + warp.dt[-1]), []
        per_x, per_y = _pixels_per_unit(warp.model)
        for values, low, high, per in ((warp.y, top, bottom, per_y), (warp.x, left, right, per_x)):
            # Pixels reach half a pixel beyond their centers.
            low, high = low - 0.5 / per, high + 0.5 / per
            band = _BAND * (high - low)
            first, last = count_at_ends(values, warp.dt, middle, low + band, high - band)
            counts += [2 * min(first), 2 * min(last)]
        return np.minimum(np.array(counts) / (_BAND * len(warp)), 1.0)


def subsampled(warp: PreparedWarp, n_events: int, view: EventView | None = None) -> PreparedWarp:
    """Return about ``n_events`` of the events, selected by their places in space and time.

    ``view`` is that of the events, if it is known.

    Not every k-th event: cameras send events in bursts along rows, and the order of events of equal
    time means nothing. A mirrored, transposed, moved or reversed window gives the same selection.
    """
    from evcrisp.kernels.search.array_ops import thin

    interval = round(len(warp) / max(n_events, 1))
    if interval < 2:
        return warp
    # In half pixels and half microseconds, the middle of two events is a whole number too.
    per_x, per_y = _pixels_per_unit(warp.model)
    unit = np.array([2.0 * per_x, 2.0 * per_y, 2e6])
    left, top, right, bottom = (EventView.of(warp) if view is None else view).points
    middle_s = 0.5 * float(warp.dt[0] + warp.dt[-1])
    center = np.array([0.5 * (left + right), 0.5 * (top + bottom), middle_s])
    keep = np.empty(len(warp), np.bool_)
    # Events that an earlier selection kept are selected again by other numbers.
    salt = len(warp) * _SALT % 2**32
    thin(warp.x, warp.y, warp.dt, center, unit, salt, 2**32 // interval, keep)
    # Copies of a few events are kept or dropped together. Then the selection may fail.
    n_kept = int(np.count_nonzero(keep))
    return warp.subset(keep) if 0.5 * len(warp) < n_kept * interval < 2.0 * len(warp) else warp


def ranks_by_place(
    x: NDArray[Any], y: NDArray[Any], dt: Floats, center_px: tuple[float, float], rank: NDArray
) -> None:
    """Fill ``rank``, shape (n,) uint32, with numbers by which to choose some of the events.

    ``rank < 2**32 / k`` chooses one in k. The numbers depend on the places of events in space and time,
    not on their order or direction; see `subsampled`.
    """
    from evcrisp.kernels.search.array_ops import rank_by_place

    middle_s = 0.5 * float(dt.min() + dt.max()) if dt.size else 0.0
    center, unit = np.array([*center_px, middle_s]), np.array([2.0, 2.0, 2e6])
    rank_by_place(x, y, dt, center, unit, dt.size * _SALT % 2**32, rank)


def middle_of(events: Events) -> tuple[float, float]:
    """Return the middle of the rectangle of one or more events, px."""
    return _middle(events.x), _middle(events.y)


def some_events(events: Events, chosen: NDArray[np.intp], n_events: int) -> NDArray[np.intp]:
    """Return about ``n_events`` of the chosen events, or all; see `ranks_by_place`."""
    interval = -(-chosen.size // n_events)
    if interval < 2:
        return chosen
    # `take` needs half of the time of an index.
    x, y, t = (column.take(chosen) for column in (events.x, events.y, events.t))
    # Subtracted as integers: recordings may begin at any time.
    dt, rank = (t - t[0]) / 1e6, np.empty(chosen.size, np.uint32)
    ranks_by_place(x, y, dt, (_middle(x), _middle(y)), rank)
    return chosen[rank < 2**32 // interval]


def _middle(values: NDArray[Any]) -> float:
    return 0.5 * (float(values.min()) + float(values.max()))


def _pixels_per_unit(model: MotionModel) -> tuple[float, float]:
    """Return the pixels per unit of the points of a warp, which may be slopes of rays."""
    camera = camera_of(model)
    return (1.0, 1.0) if camera is None else (camera.fx, camera.fy)
