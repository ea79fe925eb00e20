"""The contrast maps of a window, one per polarity, and the support that they give to events."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.core.types import Bools, Floats, Integers, Singles
from evcrisp.estimators.auto.buffers import places_in_window, scratch, scratch_singles
from evcrisp.estimators.auto.exposure import Exposure, exposure_of
from evcrisp.estimators.auto.noise_model import Probes, n_probes_for, uniform_probes
from evcrisp.motion import MotionModel, PreparedWarp, prepare
from evcrisp.search.alignment import WindowData
from evcrisp.search.warped_extent import border_limits

if TYPE_CHECKING:
    from evcrisp.kernels.auto.same_pixel_links import Links
    from evcrisp.kernels.auto.support import Marks


#: The reach of a footprint, px.
_REACH_PX = 3


class Pixels(NamedTuple):
    """Where events happened; all arrays have shape (n,), without gaps."""

    x: NDArray[np.uint16]
    y: NDArray[np.uint16]
    p: Bools


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
    def of(cls, data: WindowData, pixels: Pixels) -> "LinkedWindow":
        """Link the events of a window; those of one pixel come in the order of time."""
        from evcrisp.kernels.auto.same_pixel_links import Links, link, link_probes
        from evcrisp.kernels.search.array_ops import in_windows

        n, (width, height) = len(data), data.resolution
        rows = scratch("links", 3, n + 1, dtype=np.int32)
        links = Links(*rows, scratch("last", 2 * height * width, dtype=np.int32))
        p = pixels.p.view(np.uint8)
        link(pixels.x, pixels.y, p, height, width, links)
        t = scratch_singles("t", n + 1)
        in_windows(data.warp.dt, data.duration_s, t[:n])
        probes = uniform_probes(data.resolution, n_probes_for(n))
        m = probes.t.size
        before, after = scratch("probe links", 2, m, dtype=np.int32)
        link_probes(probes.source, probes.t, t, links, before, after)
        return cls(data, p, t, links, probes, before, after)

    def at(self, warp: PreparedWarp, theta: Floats, voting: Bools) -> "View":
        """Return the view at a motion; only events in ``voting``, shape (n,), make the maps."""
        resolution, duration_s = self.data.resolution, self.data.duration_s
        padding_px = _padding_px(warp.model, resolution, duration_s, theta)
        contrast = ContrastMap(footprint="spline", sigma_px=0.0, padding_px=padding_px)
        probe_warp = _probe_warp(warp.model, resolution, self.probes.t.size)
        probe_places = places_in_window(probe_warp, duration_s, theta, "probe")
        places = scratch_singles("event places", 2, len(warp))
        warp.fill(theta, *places)
        exposure = exposure_of(warp.model, theta, duration_s, resolution, padding_px)
        probes = _placed("probe", probe_places, self.probes.t, self.probes.p, contrast, resolution)
        events = _placed("event", places, self.t, self.p, contrast, resolution)
        images = _voted(events, voting, contrast.shape(resolution))
        return View(self, events, probes, contrast, images, exposure)


def _placed(
    name: str,
    places: Singles,
    t: Singles,
    p: NDArray[np.uint8],
    contrast: ContrastMap,
    resolution: tuple[int, int],
) -> "Marks":
    """Return marks at their places on the map; scratch with that name."""
    from evcrisp.kernels.auto.support import Marks, place

    cell = scratch(f"{name} cell", p.size, dtype=np.int32)
    marks = Marks(*places, *scratch_singles(f"{name} offsets", 2, p.size), cell, t, p)
    place(contrast.padding_px, np.array(contrast.shape(resolution)), marks)
    return marks


def _voted(events: "Marks", voting: Bools, shape: tuple[int, int]) -> Singles:
    """Return the maps of events at their places, OFF and ON."""
    from evcrisp.kernels.auto.support import cells_of_voters
    from evcrisp.kernels.contrast import spline

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
    exposure: Exposure

    def support(self, name: str = "") -> tuple[Singles, Singles]:
        """Return the support of events and probes by events of other pixels.

        In events per px and window; -1 for those off the map. Both are scratch with that name.
        """
        from evcrisp.kernels.auto.self_support import own_of_events, own_of_probes
        from evcrisp.kernels.auto.support import read_maps, without_own

        window, n, m = self.window, self.window.p.size, self.window.probes.t.size
        support, own = scratch_singles(f"{name} support", n), scratch_singles("own", max(n, m))
        probe_support = scratch_singles(f"{name} probe support", m)
        read_maps(self.images, self.events, support)
        read_maps(self.images, self.probes, probe_support)
        own_of_events(self.events, window.links, own[:n])
        without_own(support, own[:n], self.events)
        self.exposure(support, self.events)
        before, after = window.probe_before, window.probe_after
        own_of_probes(self.probes, before, after, self.events, window.links, own[:m])
        without_own(probe_support, own[:m], self.probes)
        self.exposure(probe_support, self.probes)
        return support, probe_support


@lru_cache(maxsize=8)
def _probe_warp(model: MotionModel, resolution: tuple[int, int], n: int) -> PreparedWarp:
    """Return the warp of the probes for a window of one second."""
    probes = uniform_probes(resolution, n)
    return prepare(model, probes.x, probes.y, probes.t.astype(np.float64), resolution)


def _padding_px(
    model: MotionModel, resolution: tuple[int, int], duration_s: float, theta: Floats
) -> int:
    """Return the border that all places need during a window, at most as wide as the sensor."""
    limits = border_limits(model, resolution, theta, -0.5 * duration_s, 0.5 * duration_s)
    widest = float(min(max(resolution), 4096 - _REACH_PX))
    needed = 0.0
    for (low, high), size in zip(limits, resolution, strict=True):
        # Whatever is not a number, or far away, asks for as much as can be had.
        outside = max(-low, high - (size - 1))
        needed = max(needed, outside if math.isfinite(outside) else widest)
    return math.ceil(min(needed, widest)) + _REACH_PX
