"""The contrast maps of a window, one per polarity, and the support that they give to events."""

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.background import Probes, n_probes_for, uniform_probes
from evcrisp.estimators.border import border_places
from evcrisp.estimators.workspace import Workspace
from evcrisp.events import Events
from evcrisp.motion import MotionModel, PreparedWarp, prepare

if TYPE_CHECKING:
    from evcrisp.kernels.exposure import Exposure
    from evcrisp.kernels.links import Links
    from evcrisp.kernels.support import Marks

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int32]

#: Exposure is told from this grid of pixels, at so many times, on a map with tiles of that size.
_GRID_PX, _GRID_TIMES, _TILE_PX = 4, 3, 4

#: The reach of a footprint, px.
_REACH_PX = 3

#: Arrays with a longer side than this are not kept for the next window.
_MOST_KEPT = 4_000_000

_LOCAL = threading.local()


def scratch(name: str, *shape: int, dtype: type = np.float64) -> NDArray[Any]:
    """Return an array of this thread that outlives a window; fresh memory costs more than its use.

    Not so for a window that is huge: its memory is given back.
    """
    if max(shape) > _MOST_KEPT:
        return np.empty(shape, dtype)
    try:
        workspace: Workspace = _LOCAL.workspace
    except AttributeError:
        workspace = _LOCAL.workspace = Workspace()
    return workspace.array(name, dtype, *shape)


def scratch_singles(name: str, *shape: int) -> Singles:
    """Return the same in single precision: support is no more certain than that by far."""
    return scratch(name, *shape, dtype=np.float32)


def _singles(name: str, n: int, columns: str) -> tuple[Singles, Singles]:
    """Return two columns of that length."""
    first, second = (scratch_singles(f"{name} {column}", n) for column in columns)
    return first, second


@dataclass(frozen=True, slots=True, eq=False)
class LinkedWindow:
    """The events of a window, with those of one pixel linked, and probes among them. All is scratch."""

    data: WindowData
    p: NDArray[np.uint8]  # (n,)
    t: Singles  # (n + 1,) in windows; see `kernels.links` for the last place
    links: "Links"
    probes: Probes
    probe_before: Integers  # (n_probes,) the event of its source before a probe
    probe_after: Integers  # (n_probes,) and after it

    @classmethod
    def of(cls, data: WindowData, events: Events) -> "LinkedWindow":
        """Link the events of a window."""
        from evcrisp.kernels.columns import in_windows
        from evcrisp.kernels.links import Links, link, link_probes

        n, (width, height) = len(events), data.resolution
        rows = [scratch(name, n + 1, dtype=np.int32) for name in ("before", "after", "rank")]
        links = Links(*rows, scratch("last", 2 * height * width, dtype=np.int32))
        p = events.p.view(np.uint8)
        link(events.x, events.y, p, height, width, links)
        t = scratch_singles("t", n + 1)
        in_windows(data.warp.dt, data.duration_s, t[:n])
        probes = uniform_probes(data.resolution, n_probes_for(n))
        m = probes.t.size
        before, after = (scratch(f"probe {name}", m, dtype=np.int32) for name in ("<", ">"))
        link_probes(probes.source, probes.t, t, links, before, after)
        return cls(data, p, t, links, probes, before, after)

    def at(self, warp: PreparedWarp, theta: Floats, voting: Bools) -> "View":
        """Return the view at a motion; only events in ``voting``, shape (n,), make the maps."""
        resolution, duration_s = self.data.resolution, self.data.duration_s
        padding_px = _padding_px(warp.model, resolution, duration_s, theta)
        contrast = ContrastMap(footprint="spline", sigma_px=0.0, padding_px=padding_px)
        probe_warp = _probe_warp(warp.model, resolution, self.probes.t.size)
        probe_places = _places(probe_warp, duration_s, theta, "probe")
        places = _singles("event", len(warp), "xy")
        warp.fill(theta, *places)
        exposure = self._exposure(warp.model, theta, contrast)
        probes = _placed("probe", probe_places, self.probes.t, self.probes.p, contrast, resolution)
        events = _placed("event", places, self.t, self.p, contrast, resolution)
        images = _voted(events, voting, contrast.shape(resolution))
        return View(self, events, probes, contrast, images, exposure)

    def _exposure(self, model: MotionModel, theta: Floats, contrast: ContrastMap) -> "Exposure":
        """Return how long every tile of the maps was in view."""
        from evcrisp.kernels.exposure import Exposure, expose, whole_part

        grid = _grid_warp(model, self.data.resolution)
        places = _places(grid, self.data.duration_s, theta, "grid")
        coarse = ContrastMap(padding_px=contrast.padding_px, scale=_TILE_PX)
        tiles = scratch("tiles", *coarse.shape(self.data.resolution))
        # Each pixel of the grid stands for many, and for a part of the time.
        worth = (_GRID_PX / _TILE_PX) ** 2 / _GRID_TIMES
        expose(*places, contrast.padding_px, _TILE_PX, worth, tiles)
        whole = np.empty(4)
        whole_part(tiles, _TILE_PX, whole)
        return Exposure(tiles, 1.0 / _TILE_PX, whole)


def _placed(
    name: str,
    places: tuple[Singles, Singles],
    t: Singles,
    p: NDArray[np.uint8],
    contrast: ContrastMap,
    resolution: tuple[int, int],
) -> "Marks":
    """Return marks at their places on the map; scratch with that name."""
    from evcrisp.kernels.support import Marks, place

    cell = scratch(f"{name} cell", p.size, dtype=np.int32)
    marks = Marks(*places, *_singles(name, p.size, "ab"), cell, t, p)
    place(contrast.padding_px, np.array(contrast.shape(resolution)), marks)
    return marks


def _voted(events: "Marks", voting: Bools, shape: tuple[int, int]) -> Singles:
    """Return the maps of events at their places, OFF and ON."""
    from evcrisp.kernels import spline
    from evcrisp.kernels.support import cells_of_voters

    height, width = shape
    cell = events.cell
    if not voting.all():
        cell = scratch("cell", voting.size, dtype=np.int32)
        cells_of_voters(events.cell, voting, cell)
    images = scratch_singles("images", 2, height, width)
    spline.vote(cell, events.a, events.b, images.reshape(-1, width))
    return images


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A window at a motion: events at their places, the maps that they make, and exposure.

    The maps have no blur: voting and reading with a spline makes a kernel of sigma 0.7 px. Events
    and maps are scratch, which the next view overwrites.
    """

    window: LinkedWindow
    events: "Marks"
    probes: "Marks"
    contrast: ContrastMap
    images: Singles  # (2, h, w) OFF and ON
    exposure: "Exposure"

    def support(self, name: str = "") -> tuple[Singles, Singles]:
        """Return the support of events and probes by events of other pixels.

        In events per px and window; -1 for those off the map. Both are scratch with that name.
        """
        from evcrisp.kernels.own import own_of_events, own_of_probes
        from evcrisp.kernels.support import read_maps, support_of

        window, n, m = self.window, self.window.p.size, self.window.probes.t.size
        support, own = scratch_singles(f"{name} support", n), scratch_singles("own", max(n, m))
        probe_support = scratch_singles(f"{name} probe support", m)
        read_maps(self.images, self.events, support)
        read_maps(self.images, self.probes, probe_support)
        own_of_events(self.events, window.links, own[:n])
        support_of(support, own[:n], self.events, self.exposure)
        before, after = window.probe_before, window.probe_after
        own_of_probes(self.probes, before, after, self.events, window.links, own[:m])
        support_of(probe_support, own[:m], self.probes, self.exposure)
        return support, probe_support


def _places(
    warp: PreparedWarp, duration_s: float, theta: Floats, name: str
) -> tuple[Singles, Singles]:
    """Return where a warp for one second takes its pixels in a window of another length; scratch."""
    n = len(warp)
    dt = np.multiply(warp.dt, duration_s, out=scratch(f"{name} dt", n))
    places = _singles(name, n, "xy")
    warp.of(warp.x, warp.y, dt).fill(theta, *places)
    return places


@lru_cache(maxsize=8)
def _probe_warp(model: MotionModel, resolution: tuple[int, int], n: int) -> PreparedWarp:
    """Return the warp of the probes for a window of one second."""
    probes = uniform_probes(resolution, n)
    return prepare(model, probes.x, probes.y, probes.t.astype(np.float64))


@lru_cache(maxsize=8)
def _grid_warp(model: MotionModel, resolution: tuple[int, int]) -> PreparedWarp:
    """Return the warp of a grid of pixels at several times in a window of one second."""
    start = 0.5 * (_GRID_PX - 1)
    x, y = np.meshgrid(*(np.arange(start, max(side, _GRID_PX), _GRID_PX) for side in resolution))
    t = (np.arange(_GRID_TIMES) + 0.5) / _GRID_TIMES - 0.5
    still = prepare(model, x.ravel(), y.ravel(), np.zeros(x.size))
    columns = np.tile(still.x, _GRID_TIMES), np.tile(still.y, _GRID_TIMES), np.repeat(t, x.size)
    return still.of(*columns)


def _padding_px(
    model: MotionModel, resolution: tuple[int, int], duration_s: float, theta: Floats
) -> int:
    """Return the border that all places need during a window, at most as wide as the sensor."""
    places = border_places(model, resolution, theta, (-0.5 * duration_s, 0.0, 0.5 * duration_s))
    widest = float(min(max(resolution), 4096 - _REACH_PX))
    needed = 0.0
    for values, size in zip(places, resolution, strict=True):
        # Whatever is not a number, or far away, asks for as much as can be had.
        outside = max(-float(values.min()), float(values.max()) - (size - 1))
        needed = max(needed, outside if np.isfinite(outside) else widest)
    return int(np.ceil(min(needed, widest))) + _REACH_PX
