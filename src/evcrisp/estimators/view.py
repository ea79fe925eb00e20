"""The contrast maps of a window, one per polarity, and the support that they give at any place."""

import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.workspace import Workspace
from evcrisp.motion import MotionModel, PreparedWarp, prepare

if TYPE_CHECKING:
    from evcrisp.kernels.support import Links, Maps

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

#: Exposure is told from this grid of pixels, at so many times, on a map with tiles of that size.
_GRID_PX, _GRID_TIMES, _TILE_PX = 4, 8, 4

#: The reach of a footprint, px.
_REACH_PX = 3

_LOCAL = threading.local()


def scratch() -> Workspace:
    """Return the arrays of this thread that outlive a window; fresh memory costs more than its use."""
    if not hasattr(_LOCAL, "workspace"):
        _LOCAL.workspace = Workspace()
    return _LOCAL.workspace


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Events at their places, the maps that they make, and how long every place was in view.

    The maps have no blur: voting and reading with a spline makes a kernel of sigma 0.7 px. They are
    scratch: the next view overwrites them.
    """

    x: Floats  # (n,) px of the sensor
    y: Floats  # (n,)
    p: Bytes  # (n,)
    contrast: ContrastMap
    maps: "Maps"

    @classmethod
    def of(
        cls, data: WindowData, theta: Floats, voting: Bools, others: tuple[Floats, Floats]
    ) -> "View":
        """Return the view of aligned events.

        Parameters
        ----------
        data : WindowData
            The window.
        theta : ndarray, shape (m,)
            The motion.
        voting : ndarray of bool, shape (n,)
            The events that make the maps.
        others : (ndarray, ndarray), px of the sensor
            x, y of other places that the maps shall hold.
        """
        from evcrisp.kernels.support import Maps, vote_by_polarity

        x, y = data.warp.warp(theta)
        p, resolution = data.p.view(np.uint8), data.resolution
        padding = max(_padding_px(x, y, resolution), _padding_px(*others, resolution))
        contrast = ContrastMap(footprint="spline", sigma_px=0.0, padding_px=padding)
        images = scratch().floats("images", 2, *contrast.shape(resolution))
        vote_by_polarity(x, y, p, voting, float(padding), images)
        exposure = _exposure(data, theta, replace(contrast, footprint="bilinear", scale=_TILE_PX))
        return cls(x, y, p, contrast, Maps(images, exposure, float(padding), float(_TILE_PX)))

    def event_support(self, links: "Links") -> Floats:
        """Return the support of the events themselves, each by those of other pixels.

        Parameters
        ----------
        links : Links
            Their neighbors in time.

        Returns
        -------
        ndarray, shape (n,)
            Events per px and window; -1 for an event off the map.
        """
        from evcrisp.kernels.support import own_of_events, read_support

        support = np.empty(self.x.size)
        own_of_events(self.x, self.y, links.before, self.maps.padding, support)
        read_support(self.maps, self.x, self.y, self.p, support)
        return support

    def probe_support(
        self, x: Floats, y: Floats, p: Bytes, links: "Links", event_links: "Links"
    ) -> Floats:
        """Return the support that events would find at other places, shape (n,).

        Parameters
        ----------
        x, y : ndarray, shape (n,), px of the sensor
            The places, aligned.
        p : ndarray of uint8, shape (n,)
            Polarity for which support is sought.
        links, event_links : Links
            Neighbors in time of the places, and of the view's events.
        """
        from evcrisp.kernels.support import own_of_probes, read_support

        support = np.empty(x.size)
        padding = self.maps.padding
        own_of_probes(x, y, links, self.x, self.y, event_links, padding, support)
        read_support(self.maps, x, y, p, support)
        return support


def _exposure(data: WindowData, theta: Floats, tiles: ContrastMap) -> Floats:
    """Return how long each tile was in view, in windows."""
    grid = _grid_warp(data.warp.model, data.resolution)
    grid = replace(grid, dt=grid.dt * data.duration_s)
    worth = np.full(len(grid), (_GRID_PX / _TILE_PX) ** 2 / _GRID_TIMES)
    return tiles.build(*grid.warp(theta), worth, data.resolution)


@lru_cache(maxsize=8)
def _grid_warp(model: MotionModel, resolution: tuple[int, int]) -> PreparedWarp:
    """Return the warp of a grid of pixels at several times in a window of one second."""
    start = 0.5 * (_GRID_PX - 1)
    x, y = np.meshgrid(*(np.arange(start, max(side, _GRID_PX), _GRID_PX) for side in resolution))
    t = (np.arange(_GRID_TIMES) + 0.5) / _GRID_TIMES - 0.5
    still = prepare(model, x.ravel(), y.ravel(), np.zeros(x.size))
    return replace(
        still,
        x=np.tile(still.x, _GRID_TIMES),
        y=np.tile(still.y, _GRID_TIMES),
        dt=np.repeat(t, x.size),
    )


def _padding_px(x: Floats, y: Floats, resolution: tuple[int, int]) -> int:
    """Return the border that aligned places need, at most as wide as the sensor."""
    widest = float(min(max(resolution), 4096 - _REACH_PX))
    needed = 0.0
    for values, size in ((x, resolution[0]), (y, resolution[1])):
        if values.size:
            low, high = float(values.min()), float(values.max())
            # Whatever is not a number, or far away, asks for as much as can be had.
            outside = max(-low, high - (size - 1))
            needed = max(needed, outside if np.isfinite(outside) else widest)
    return int(np.ceil(min(needed, widest))) + _REACH_PX
