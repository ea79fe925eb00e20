"""Where noise is dense: its rate in tiles of the live area, relative to the quiet parts.

Sensors have more noise in dark or warm parts, and none in parts that are switched off. Where noise
samples read little support, events are noise; the ratio of both tells the rate. Without a significant
difference between the tiles, noise is uniform.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.live_area import Box
from evcrisp.core.types import Bytes, Floats, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import IndexedWindow
from evcrisp.estimators.auto.noise_model import QUIET_SHARE

#: Least side of a tile, px, and least mean number of noise samples in it.
TILE_PX, TILE_SAMPLES = 32, 64

#: A quick test, then the real one: number of events, and the mean square of the deviations of the tiles
#: from uniform noise that is significant, in variances. First of all tiles, then of those with quiet samples.
TESTS = (4096, 1.5), (16_384, 4.0)
TESTS_OF_QUIET = (16_384, 1.5), (65_536, 4.0)

#: Share of the events that noise explains if only tiles with quiet samples differ. Where there is little noise, quiet
#: events are those of weak edges.
LEAST_NOISE = 0.5

#: Events that are added to the count of every tile and to the expected one: few events tell little.
PRIOR = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class NoiseDensity:
    """Rate of noise over the live area, relative to its quiet parts; linear between tile centers."""

    box: Box
    tiles: Singles  # (rows, columns)

    def at(self, x: NDArray, y: NDArray) -> Singles:
        """Return the relative rate at positions, px; all arrays have shape (n,)."""
        from evcrisp.kernels.auto.noise_density import density_at

        out = np.empty(x.size, np.float32)
        density_at(x, y, *self.box, self.tiles, out)
        return out


def density_of_noise(
    window: IndexedWindow, support: Singles, sample_support: Singles, quiet: NDArray
) -> NoiseDensity | None:
    """Return where noise is dense, or None if it is uniform as far as one can tell.

    ``quiet`` is the support of quiet samples, OFF and ON.
    """
    samples, pixels = window.samples, window.pixels
    tiles = _Tiles.of(window.live, samples.t.size)
    if max(tiles.shape) == 1 or not support.size:
        return None
    of_samples = Points(samples.x, samples.y, samples.p, sample_support)
    limit = np.zeros(tiles.shape, np.float32)
    every = np.arange(samples.t.size)
    expected = tiles.count(of_samples, every, quiet, limit)
    of_events = Points(pixels.x, pixels.y, window.p, support)

    def tested(tests: tuple[tuple[int, float], ...], *, of_all: bool) -> _Counted | None:
        for n_events, least in tests:
            # Support above that of quiet samples; both polarities together.
            interval = -(-support.size // n_events)
            chosen = window.one_in(interval)
            counts = tiles.count(of_events, chosen, quiet, limit)
            if _deviation(counts, expected, of_all=of_all) < least:
                return None
        return _Counted(chosen, interval, float(counts.sum()) / max(float(expected.sum()), 1.0))

    found = tested(TESTS, of_all=True)
    is_told, found = found is not None, found or tested(TESTS_OF_QUIET, of_all=False)
    if found is None:
        return None
    _raise_to_quiet_share(limit, tiles, of_samples, quiet)
    local = tiles.count(of_events, found.chosen, quiet, limit)
    local_expected = tiles.count(of_samples, every, quiet, limit)
    density = (local + PRIOR) / (local_expected * found.ratio + PRIOR)
    n_noise = found.interval * found.ratio * samples.t.size * float(density.mean())
    if not is_told and n_noise < LEAST_NOISE * support.size:
        return None
    return NoiseDensity(window.live, density.astype(np.float32))


class _Counted(NamedTuple):
    """Events of a test that found a difference."""

    chosen: NDArray[np.intp]
    interval: int  # events per chosen one
    ratio: float  # quiet events per quiet sample


class Points(NamedTuple):
    """Events or noise samples; arrays of shape (n,)."""

    x: NDArray  # px
    y: NDArray
    p: Bytes
    support: Singles


@dataclass(frozen=True, slots=True)
class _Tiles:
    """Tiles of the live area."""

    box: Box
    shape: tuple[int, int]  # rows and columns

    @classmethod
    def of(cls, box: Box, n_samples: int) -> "_Tiles":
        """Return the tiles of a box, given the number of noise samples in it."""
        side = max(TILE_PX, (box.area * TILE_SAMPLES / n_samples) ** 0.5)
        return cls(box, (max(int(box.height / side), 1), max(int(box.width / side), 1)))

    @property
    def corner(self) -> Singles:
        """Left and top, px: from the center of pixels, so that mirrored ones are in mirrored tiles."""
        return np.array((self.box.left - 0.5, self.box.top - 0.5), np.float32)

    @property
    def scale(self) -> Singles:
        """Tiles per px along x and y."""
        (rows, columns), (_, _, width, height) = self.shape, self.box
        return np.array((columns / width, rows / height), np.float32)

    def count(
        self, points: Points, chosen: NDArray[np.intp], quiet: NDArray, limit: Singles
    ) -> Floats:
        """Count the chosen points that are quiet up to a limit above ``quiet``; (rows, columns)."""
        from evcrisp.kernels.auto.noise_density import count_quiet_in_tiles

        counts = np.empty(self.shape)
        count_quiet_in_tiles(*points, chosen, quiet, limit, self.corner, self.scale, counts)
        return counts

    def tile_of(self, points: Points) -> Integers:
        """Return the tile of points, (n,); those beyond the box belong to the nearest one."""
        (left, top), (per_x, per_y) = self.corner, self.scale
        column = ((points.x.astype(np.float32) - left) * per_x).astype(np.int32)
        row = ((points.y.astype(np.float32) - top) * per_y).astype(np.int32)
        np.clip(column, 0, self.shape[1] - 1, out=column)
        np.clip(row, 0, self.shape[0] - 1, out=row)
        return row * self.shape[1] + column


def _raise_to_quiet_share(limit: Singles, tiles: _Tiles, samples: Points, quiet: NDArray) -> None:
    """Raise the limit of every tile to the support of its quiet share of the samples, in place."""
    tile, above = tiles.tile_of(samples), samples.support - quiet[samples.p]
    by_tile, flat = np.argsort(tile, kind="stable"), limit.reshape(-1)
    ends = np.searchsorted(tile[by_tile], np.arange(limit.size + 1))
    ranked = above[by_tile]
    for k, (first, last) in enumerate(pairwise(ends.tolist())):
        if last > first:
            rank = int(QUIET_SHARE * (last - first))
            flat[k] = max(np.partition(ranked[first:last], rank)[rank], 0.0)


def _deviation(counts: Floats, n_samples: Floats, *, of_all: bool) -> float:
    """Return how far events and samples are distributed differently over the tiles, in variances.

    About 1 if they are not. Tiles without quiet samples, where noise is densest, say nothing; ``of_all`` counts them.
    """
    ratio = counts.sum() / max(n_samples.sum(), 1.0)
    variance = n_samples * ratio * (1.0 + ratio)
    squares = (counts - n_samples * ratio) ** 2 / np.maximum(variance, 1.0)
    n_tiles = counts.size if of_all else max(np.minimum(variance, 1.0).sum(), 1.0)
    return float(squares.sum() / n_tiles)
