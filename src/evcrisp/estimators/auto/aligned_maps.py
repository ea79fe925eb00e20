"""Contrast maps of a window at a motion, one per polarity, and the support that events read there."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.core.live_area import Box
from evcrisp.core.types import Bools, Bytes, Floats, Integers, Singles
from evcrisp.estimators.auto.buffers import Buffers, PointBuffers
from evcrisp.estimators.auto.exposure import Exposure, exposure_of
from evcrisp.estimators.auto.live_area import area_of_samples, live_area
from evcrisp.estimators.auto.noise_model import (
    NoiseSamples,
    n_noise_samples_for,
    noise_samples_in,
)
from evcrisp.motion import MotionModel, PreparedWarp, prepare
from evcrisp.search.event_view import ranks_by_place
from evcrisp.search.multiscale_objective import border_limits
from evcrisp.search.window_data import WindowData

if TYPE_CHECKING:
    from evcrisp.kernels.auto.self_support import Links
    from evcrisp.kernels.auto.support import MapPoints

#: Fewer events do not show which part of the sensor is live.
_FEW_EVENTS = 1000

#: Reach of a footprint, px.
_REACH_PX = 3

#: Largest padding that a contrast map accepts, px.
_MAX_PADDING_PX = 4096


class Pixels(NamedTuple):
    """Pixels and polarities of events; contiguous arrays of shape (n,)."""

    x: NDArray[np.uint16]
    y: NDArray[np.uint16]
    p: Bools


@dataclass(frozen=True, slots=True, eq=False)
class IndexedWindow:
    """Events of a window, linked to the events of the same pixel, and noise samples. All buffers."""

    data: WindowData
    buffers: Buffers
    extent: Box  # of all events
    live: Box  # of all but a few strays
    pixels: Pixels
    p: Bytes  # (n,)
    t: Singles  # (n + 1,) in windows; see `kernels.auto.self_support` for the last element
    rank: NDArray[np.uint32]  # (n,) numbers that choose some of the events; see `ranks_by_place`
    links: "Links"
    samples: NoiseSamples
    sample_before: Integers  # (n_samples,) event of the same pixel and polarity before a sample
    sample_after: Integers  # (n_samples,) and after it

    @classmethod
    def of(cls, data: WindowData, pixels: Pixels, buffers: Buffers) -> "IndexedWindow":
        """Link the events; those of one pixel come in the order of time."""
        from evcrisp.kernels.auto.self_support import Links, link_events, link_samples
        from evcrisp.kernels.search.array_ops import in_windows

        n, (width, height) = len(data), data.resolution
        links = Links(*buffers.links(3, n + 1), buffers.last_of_source(2 * height * width))
        p = pixels.p.view(np.uint8)
        link_events(pixels.x, pixels.y, p, height, width, links)
        t = buffers.t(n + 1)
        in_windows(data.warp.dt, data.duration_s, t[:n])
        extent, live = live_area(pixels.x, pixels.y, data.resolution)
        samples = noise_samples_in(area_of_samples(live), data.resolution, n_noise_samples_for(n))
        rank = buffers.rank(n)
        center = extent.left + 0.5 * (extent.width - 1), extent.top + 0.5 * (extent.height - 1)
        ranks_by_place(pixels.x, pixels.y, data.warp.dt, center, rank)
        before, after = buffers.sample_links(2, samples.t.size)
        link_samples(samples.source, samples.t, t, links, before, after)
        return cls(data, buffers, extent, live, pixels, p, t, rank, links, samples, before, after)

    @property
    def samples_key(self) -> tuple[Box, tuple[int, int], int]:
        """What the noise samples depend on: their area, the sensor, and their number."""
        return area_of_samples(self.live), self.data.resolution, self.samples.t.size

    def one_in(self, interval: int) -> NDArray[np.intp]:
        """Return one in ``interval`` events, whatever their order and direction."""
        if interval < 2:
            return np.arange(self.p.size)
        return np.flatnonzero(self.rank < 2**32 // interval)

    @property
    def view(self) -> Box:
        """The part of the sensor that counts as in view; few events do not tell, and have no border."""
        if self.p.size >= _FEW_EVENTS:
            return self.live
        width, height = self.data.resolution
        return Box(-width, -height, 3 * width, 3 * height)

    def at(self, warp: PreparedWarp, theta: Floats, supporting: Bools) -> "AlignedMaps":
        """Return the maps at a motion, made of the events in ``supporting``, shape (n,)."""
        resolution, duration_s = self.data.resolution, self.data.duration_s
        padding_px = padding_for(warp.model, resolution, duration_s, theta)
        event_buffers, sample_buffers = self.buffers.events, self.buffers.samples
        # The warp of the samples is made for a window of one second.
        sample_warp = _sample_warp(
            warp.model, resolution, area_of_samples(self.live), self.samples.t.size
        )
        dt = np.multiply(sample_warp.dt, duration_s, out=sample_buffers.dt(len(sample_warp)))
        sample_positions = sample_buffers.positions(2, len(sample_warp))
        sample_warp.of(sample_warp.x, sample_warp.y, dt).fill(theta, *sample_positions)
        positions = event_buffers.positions(2, len(warp))
        warp.fill(theta, *positions)
        exposure = exposure_of(
            warp.model, theta, duration_s, resolution, padding_px, self.buffers, self.view
        )
        return self.placed(positions, sample_positions, padding_px, exposure, supporting)

    def placed(
        self,
        positions: Singles,
        sample_positions: Singles,
        padding_px: int,
        exposure: Exposure,
        supporting: Bools,
    ) -> "AlignedMaps":
        """Return the maps of events and noise samples at given positions, shape (2, n), px.

        Both arrays are overwritten: they become positions on the map.
        """
        from evcrisp.kernels.auto.support import MapPoints, place_points

        contrast = ContrastMap(footprint="spline", sigma_px=0.0, padding_px=padding_px)
        shape = contrast.shape(self.data.resolution)

        def place(positions: Singles, t: Singles, p: Bytes, buffers: PointBuffers) -> "MapPoints":
            offsets, cell = buffers.offsets(2, p.size), buffers.cell(p.size)
            points = MapPoints(*positions, *offsets, cell, t, p)
            place_points(padding_px, np.array(shape), points)
            return points

        samples = place(sample_positions, self.samples.t, self.samples.p, self.buffers.samples)
        events = place(positions, self.t, self.p, self.buffers.events)
        images = _accumulate(events, supporting, shape, self.buffers)
        return AlignedMaps(self, events, samples, contrast, images, exposure)


def _accumulate(
    events: "MapPoints", supporting: Bools, shape: tuple[int, int], buffers: Buffers
) -> Singles:
    """Return the maps of OFF and of ON events, shape (2, h, w)."""
    from evcrisp.kernels.auto.support import cells_of_supporting
    from evcrisp.kernels.contrast import spline

    height, width = shape
    cell = events.cell
    if not supporting.all():
        cell = buffers.supporting_cell(supporting.size)
        cells_of_supporting(events.cell, supporting, cell)
    images = buffers.images(2, height, width)
    spline.accumulate(cell, events.a, events.b, images.reshape(-1, width))
    return images


@dataclass(frozen=True, slots=True, eq=False)
class AlignedMaps:
    """A window at a motion: positions of events, contrast maps, and exposure.

    The maps have no blur: accumulating and reading with a spline is a kernel of sigma 0.7 px.
    Positions and maps are buffers, which the next call of `IndexedWindow.at` overwrites.
    """

    window: IndexedWindow
    events: "MapPoints"
    samples: "MapPoints"
    contrast: ContrastMap
    images: Singles  # (2, h, w) OFF and ON
    exposure: Exposure

    def support_of_events(self) -> Singles:
        """Return the support of events without regard to exposure; -1 off the map. A buffer."""
        from evcrisp.kernels.auto.self_support import self_support_of_events
        from evcrisp.kernels.auto.support import read_maps, subtract_self_support

        window, buffers, n = self.window, self.window.buffers, self.window.p.size
        support, own = buffers.events.support(n), buffers.self_support(n)
        read_maps(self.images, self.events, support)
        self_support_of_events(self.events, window.links, own)
        subtract_self_support(support, own, self.events)
        return support

    def support(self, *, aligned: bool = True) -> tuple[Singles, Singles]:
        """Return the support of events and noise samples; -1 off the map. Both are buffers."""
        from evcrisp.kernels.auto import self_support as kernels
        from evcrisp.kernels.auto.support import read_maps, subtract_self_support

        window, buffers = self.window, self.window.buffers
        n, m = window.p.size, window.samples.t.size
        name = "support" if aligned else "unaligned_support"
        support = getattr(buffers.events, name)(n)
        sample_support = getattr(buffers.samples, name)(m)
        own = buffers.self_support(max(n, m))
        read_maps(self.images, self.events, support)
        read_maps(self.images, self.samples, sample_support)
        kernels.self_support_of_events(self.events, window.links, own[:n])
        subtract_self_support(support, own[:n], self.events)
        self.exposure(support, self.events)
        links = window.sample_before, window.sample_after, self.events, window.links
        kernels.self_support_of_samples(self.samples, *links, own[:m])
        subtract_self_support(sample_support, own[:m], self.samples)
        self.exposure(sample_support, self.samples)
        return support, sample_support


@lru_cache(maxsize=8)
def _sample_warp(model: MotionModel, resolution: tuple[int, int], box: Box, n: int) -> PreparedWarp:
    """Return the warp of the noise samples for a window of one second."""
    samples = noise_samples_in(box, resolution, n)
    return prepare(model, samples.x, samples.y, samples.t.astype(np.float64), resolution)


def padding_for(
    model: MotionModel, resolution: tuple[int, int], duration_s: float, theta: Floats
) -> int:
    """Return the padding that contains all positions during a window, at most the sensor size."""
    limits = border_limits(model, resolution, theta, -0.5 * duration_s, 0.5 * duration_s)
    widest = float(min(max(resolution), _MAX_PADDING_PX - _REACH_PX))
    needed = 0.0
    for (low, high), size in zip(limits, resolution, strict=True):
        # Positions that are not finite get the largest padding.
        outside = max(-low, high - (size - 1))
        needed = max(needed, outside if math.isfinite(outside) else widest)
    return math.ceil(min(needed, widest)) + _REACH_PX
