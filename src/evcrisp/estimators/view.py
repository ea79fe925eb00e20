"""The contrast maps of a window, one per polarity, and the support that they give at any place."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.alignment import WindowData
from evcrisp.events import Events
from evcrisp.motion import MotionModel, PreparedWarp, prepare

if TYPE_CHECKING:
    from evcrisp.kernels.support import Links, Places

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Exposure is told from this grid of pixels, at so many times, on a map with tiles of that size.
_GRID_PX, _GRID_TIMES, _TILE_PX = 4, 8, 4

#: Places that were in view for a shorter share of the window are treated as if it were this.
_LEAST_EXPOSURE = 0.1

#: The reach of a footprint, px.
_REACH_PX = 3


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Events at their places, the maps that they make, and how long every place was in view.

    The maps have no blur: voting and reading with a spline makes a kernel of sigma 0.7 px.
    """

    x: Floats  # (n,) px of the sensor
    y: Floats  # (n,)
    contrast: ContrastMap
    maps: Floats  # (2, h, w) OFF and ON
    tiles: ContrastMap
    exposure: Floats | None  # per tile, in windows; None where all of it is one window

    @classmethod
    def aligned(
        cls, data: WindowData, p: NDArray[np.uint8], theta: Floats, voting: Bools | None = None
    ) -> "View":
        """Return the view of aligned events, of which those in ``voting`` make the maps."""
        x, y = data.warp.warp(theta)
        view = cls._of(x, y, p, data.resolution, voting)
        grid = _grid_warp(data.warp.model, data.resolution)
        grid = replace(grid, dt=grid.dt * data.duration_s)
        worth = np.full(len(grid), (_GRID_PX / _TILE_PX) ** 2 / _GRID_TIMES)
        exposure = view.tiles.build(*grid.warp(theta), worth, data.resolution)
        return replace(view, exposure=exposure)

    @classmethod
    def unaligned(cls, events: Events, voting: Bools | None = None) -> "View":
        """Return the view of events where the sensor saw them."""
        x, y = events.x.astype(np.float64), events.y.astype(np.float64)
        return cls._of(x, y, events.p.view(np.uint8), events.resolution, voting)

    @classmethod
    def _of(
        cls,
        x: Floats,
        y: Floats,
        p: NDArray[np.uint8],
        resolution: tuple[int, int],
        voting: Bools | None,
    ) -> "View":
        from evcrisp.kernels.support import vote_by_polarity

        contrast = ContrastMap(
            footprint="spline", sigma_px=0.0, padding_px=_padding_px(x, y, resolution)
        )
        maps = np.zeros((2, *contrast.shape(resolution)))
        keep = np.ones(x.size, np.bool_) if voting is None else voting
        vote_by_polarity(*contrast.to_map(x, y), p, keep, maps)
        tiles = replace(contrast, footprint="bilinear", scale=_TILE_PX)
        return cls(x, y, contrast, maps, tiles, None)

    def event_support(self, p: NDArray[np.uint8], links: "Links") -> Floats:
        """Return the support of the events themselves, each by those of other pixels.

        Parameters
        ----------
        p : ndarray of uint8, shape (n,)
            Their polarities.
        links : Links
            Their neighbors in time.

        Returns
        -------
        ndarray, shape (n,)
            Events per px and window; -1 for an event off the map.
        """
        from evcrisp.kernels.support import Places, own_of_events

        places, own = Places(*self.contrast.to_map(self.x, self.y)), np.empty(p.size)
        own_of_events(places, links.before, own)
        return self._read(places, self.x, self.y, p, own)

    def probe_support(
        self, x: Floats, y: Floats, p: NDArray[np.uint8], links: "Links", event_links: "Links"
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
        from evcrisp.kernels.support import Places, own_of_probes

        places, own = Places(*self.contrast.to_map(x, y)), np.empty(p.size)
        event_places = Places(*self.contrast.to_map(self.x, self.y))
        own_of_probes(places, links, event_places, event_links, own)
        return self._read(places, x, y, p, own)

    def _read(
        self, places: "Places", x: Floats, y: Floats, p: NDArray[np.uint8], own: Floats
    ) -> Floats:
        from evcrisp.kernels.support import read_support

        support = np.empty(p.size)
        read_support(self.maps, places, p, own, support)
        if self.exposure is None:
            return support
        exposure = np.maximum(self.tiles.sample(self.exposure, x, y), _LEAST_EXPOSURE)
        return np.where(support < 0.0, support, support / exposure)


def _padding_px(x: Floats, y: Floats, resolution: tuple[int, int]) -> int:
    """Return the border that the aligned events need, at most as wide as the sensor."""
    widest = float(min(max(resolution), 4096 - _REACH_PX))
    needed = 0.0
    for values, size in ((x, resolution[0]), (y, resolution[1])):
        finite = values[np.isfinite(values)]
        if finite.size:
            needed = max(needed, -float(finite.min()), float(finite.max()) - (size - 1))
    return int(np.ceil(min(needed, widest))) + _REACH_PX


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
