"""The contrast maps of a window, one per polarity, and the support that they give to events."""

import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.background import n_probes_for, uniform_probes
from evcrisp.estimators.workspace import Workspace
from evcrisp.events import Events
from evcrisp.motion import MotionModel, PreparedWarp, prepare

if TYPE_CHECKING:
    from evcrisp.kernels.support import Maps, Marks

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int32]

#: Exposure is told from this grid of pixels, at so many times, on a map with tiles of that size.
_GRID_PX, _GRID_TIMES, _TILE_PX = 4, 4, 4

#: The reach of a footprint, px.
_REACH_PX = 3

_LOCAL = threading.local()


def scratch(name: str, *shape: int) -> Floats:
    """Return an array of this thread that outlives a window; fresh memory costs more than its use."""
    if not hasattr(_LOCAL, "workspace"):
        _LOCAL.workspace = Workspace()
    return _LOCAL.workspace.floats(name, *shape)


def scratch_integers(name: str, n: int) -> Integers:
    """Return the same for whole numbers."""
    return scratch(name, n // 2 + 1).view(np.int32)[:n]


@dataclass(frozen=True, slots=True, eq=False)
class SortedWindow:
    """The events of a window in the order of their pixels, and probes among them. All is scratch."""

    data: WindowData
    p: NDArray[np.uint8]  # (n,) in the order of time
    order: Integers  # (n,) index of each sorted event
    events: "Marks"  # not aligned yet
    probes: "Marks"  # not aligned yet
    place: Integers  # (n_probes,) where the probes would stand

    @classmethod
    def of(cls, data: WindowData, events: Events) -> "SortedWindow":
        """Sort the events of a window."""
        from evcrisp.kernels.support import Marks, find_probes, sort_by_source, take

        n, (width, height) = len(events), data.resolution
        order, source = scratch_integers("order", n), scratch_integers("source", n)
        keys, p = scratch("keys", n).view(np.int64), events.p.view(np.uint8)
        sort_by_source(events.x, events.y, p, height, width, keys, order, source)
        t = scratch("t", n)
        take(data.warp.dt, order, 1.0 / data.duration_s, t)
        probes = uniform_probes(data.resolution, n_probes_for(n))
        place = scratch_integers("place", probes.t.size)
        find_probes(probes.source, probes.t, source, t, place)
        half = width * height
        return cls(data, p, order, Marks(t, t, t, source, half), Marks(*probes, half), place)

    def at(self, warp: PreparedWarp, theta: Floats, voting: Bools) -> "View":
        """Return the view at a motion; only events in ``voting``, shape (n,), make the maps."""
        from evcrisp.kernels.support import Maps, take

        resolution, n = self.data.resolution, self.order.size
        x, y = warp.warp(theta, out=(scratch("x", n), scratch("y", n)))
        events = self.events._replace(x=scratch("sorted x", n), y=scratch("sorted y", n))
        take(x, self.order, 1.0, events.x)
        take(y, self.order, 1.0, events.y)
        probe_warp = _probe_warp(warp.model, resolution, self.place.size)
        probe_x, probe_y = _places(probe_warp, self.data.duration_s, theta, "probe")
        probes = self.probes._replace(x=probe_x, y=probe_y)
        padding = max(_padding_px(*c, resolution) for c in ((x, y), (probe_x, probe_y)))
        contrast = ContrastMap(footprint="spline", sigma_px=0.0, padding_px=padding)
        images = self._voted(x, y, voting, contrast)
        exposure = self._exposure(warp.model, theta, contrast)
        maps = Maps(images, exposure, float(padding), 1.0 / _TILE_PX)
        return View(self, events, probes, contrast, maps)

    def _voted(self, x: Floats, y: Floats, voting: Bools, contrast: ContrastMap) -> Floats:
        """Return the maps of events at their places, in the order of time, OFF and ON."""
        from evcrisp.kernels import spline
        from evcrisp.kernels.support import part_by_polarity

        n, border = x.size, float(contrast.padding_px)
        height, width = contrast.shape(self.data.resolution)
        cell, inside = scratch_integers("cell", n), (scratch("a", n), scratch("b", n))
        spline.locate(x, y, 1.0, border, border, np.array([height, width]), cell, *inside)
        part_by_polarity(cell, self.p, voting, height * width)
        images = scratch("images", 2, height, width)
        # Not sorted by pixel: neighbors would wait for each other's sums.
        spline.vote(cell, *inside, images.reshape(-1, width))
        return images

    def _exposure(self, model: MotionModel, theta: Floats, contrast: ContrastMap) -> Floats:
        """Return how long every tile of the maps was in view, as a share of the window."""
        grid = _grid_warp(model, self.data.resolution)
        places = _places(grid, self.data.duration_s, theta, "grid")
        tiles = replace(contrast, footprint="bilinear", scale=_TILE_PX)
        exposure = scratch("exposure", *tiles.shape(self.data.resolution))
        exposure.fill(0.0)
        tiles.vote(*tiles.to_map(*places, out=places), _worth(len(grid)), exposure)
        return exposure


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A window at a motion: events at their places, the maps that they make, and exposure.

    The maps have no blur: voting and reading with a spline makes a kernel of sigma 0.7 px. Events
    and maps are scratch, which the next view overwrites.
    """

    window: SortedWindow
    events: "Marks"
    probes: "Marks"
    contrast: ContrastMap
    maps: "Maps"

    def support(self, name: str = "") -> tuple[Floats, Floats]:
        """Return the support of events and probes by events of other pixels.

        In events per px and window, in the order of their pixels; -1 for those off the map. The
        first is scratch with that name.
        """
        from evcrisp.kernels.support import own_of_events, own_of_probes, read_support

        support = scratch(f"{name} support", self.window.order.size)
        probe_support = np.empty(self.window.place.size)
        own_of_events(self.events, support)
        read_support(self.maps, self.events, support)
        own_of_probes(self.probes, self.window.place, self.events, probe_support)
        read_support(self.maps, self.probes, probe_support)
        return support, probe_support


def _places(
    warp: PreparedWarp, duration_s: float, theta: Floats, name: str
) -> tuple[Floats, Floats]:
    """Return where a warp for one second takes its pixels in a window of another length; scratch."""
    n = len(warp)
    dt = np.multiply(warp.dt, duration_s, out=scratch(f"{name} dt", n))
    out = scratch(f"{name} x", n), scratch(f"{name} y", n)
    return replace(warp, dt=dt).warp(theta, out=out)


@lru_cache(maxsize=8)
def _worth(n: int) -> Floats:
    """Return what each point of the grid adds to its tile."""
    return np.full(n, (_GRID_PX / _TILE_PX) ** 2 / _GRID_TIMES)


@lru_cache(maxsize=8)
def _probe_warp(model: MotionModel, resolution: tuple[int, int], n: int) -> PreparedWarp:
    """Return the warp of the probes for a window of one second."""
    probes = uniform_probes(resolution, n)
    return prepare(model, probes.x, probes.y, probes.t)


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
