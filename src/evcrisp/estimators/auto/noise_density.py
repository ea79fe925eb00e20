"""Where noise is dense: its rate in tiles of the live area, relative to the quiet parts.

Sensors have more noise in dark or warm parts, and none in parts that are switched off. Where noise
samples read little support, events are noise; the ratio of both tells the rate. Without a significant
difference between the tiles, noise is uniform.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.live_area import Box
from evcrisp.core.types import Floats, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import IndexedWindow
from evcrisp.estimators.auto.noise_model import QUIET_SHARE

#: Least side of a tile, px, and least mean number of noise samples in it.
TILE_PX, TILE_SAMPLES = 32, 64

#: A quick test, then the real one: number of events, and the mean square of the deviations of the tiles
#: from uniform noise that is significant, in variances.
TESTS = (4096, 1.5), (16_384, 4.0)

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
    box, samples, columns = window.live, window.samples, (*window.pixels[:2], window.p)
    shape = _tiles_of(box, samples.t.size)
    if max(shape) == 1 or not support.size:
        return None
    sample_tile = _tile(box, shape, samples.x, samples.y)
    sample_above = sample_support - quiet[samples.p]
    limit = np.zeros(shape[0] * shape[1], np.float32)
    for n_events, least in TESTS:
        chosen = window.one_in(-(-support.size // n_events))
        x, y, p = (column[chosen] for column in columns)
        tile = _tile(box, shape, x, y)
        # Support above that of quiet samples; both polarities together.
        above = support[chosen] - quiet[p]
        counts, expected = _counts(tile, above, sample_tile, sample_above, limit)
        if _deviation(counts, expected) < least:
            return None
    by_tile = np.argsort(sample_tile, kind="stable")
    ends = np.searchsorted(sample_tile[by_tile], np.arange(limit.size + 1))
    ranked = sample_above[by_tile]
    for k, (first, last) in enumerate(pairwise(ends.tolist())):
        if last > first:
            rank = int(QUIET_SHARE * (last - first))
            limit[k] = max(np.partition(ranked[first:last], rank)[rank], 0.0)
    local, local_expected = _counts(tile, above, sample_tile, sample_above, limit)
    local_expected *= counts.sum() / max(expected.sum(), 1.0)
    tiles = (local + PRIOR) / (local_expected + PRIOR)
    return NoiseDensity(box, tiles.reshape(shape).astype(np.float32))


def _tiles_of(box: Box, n_samples: int) -> tuple[int, int]:
    """Return rows and columns of the tiles."""
    side = max(TILE_PX, (box.area * TILE_SAMPLES / n_samples) ** 0.5)
    return max(int(box.height / side), 1), max(int(box.width / side), 1)


def _tile(box: Box, shape: tuple[int, int], x: NDArray, y: NDArray) -> Integers:
    """Return the tile of positions; those beyond the box belong to the nearest one."""
    # From the center of pixels, so that mirrored positions are in mirrored tiles.
    across, down = x.astype(np.float32) - (box.left - 0.5), y.astype(np.float32) - (box.top - 0.5)
    column = (across * (shape[1] / box.width)).astype(np.int32)
    row = (down * (shape[0] / box.height)).astype(np.int32)
    np.clip(column, 0, shape[1] - 1, out=column)
    np.clip(row, 0, shape[0] - 1, out=row)
    return row * shape[1] + column


def _counts(
    tile: Integers, above: Singles, sample_tile: Integers, sample_above: Singles, limit: Singles
) -> tuple[Floats, Floats]:
    """Count the quiet events of the tiles, and the quiet noise samples."""
    events = np.bincount(tile[above <= limit[tile]], minlength=limit.size)
    samples = np.bincount(sample_tile[sample_above <= limit[sample_tile]], minlength=limit.size)
    return events.astype(np.float64), samples.astype(np.float64)


def _deviation(counts: Floats, n_samples: Floats) -> float:
    """Return how far events and samples are distributed differently over the tiles, in variances."""
    ratio = counts.sum() / max(n_samples.sum(), 1.0)
    variance = np.maximum(n_samples * ratio * (1.0 + ratio), 1.0)
    return float(np.mean((counts - n_samples * ratio) ** 2 / variance))
