"""Maps of the three thirds of a window, and how well each third matches the next, tile by tile.

Counts, values and correlations are whole: they do not depend on the order of sums, and so not on the machine.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from evcrisp.kernels.compile import njit

#: Cells per side of a tile. A constant, so that the loops over a tile are unrolled.
TILE = 8

_ONE = np.uint64(1)

#: Single precision: square roots of eight counts at a time.
_TWO, _LESS = np.float32(2.0), np.float32(0.375)


class Limits(NamedTuple):
    """What a tile needs to count, in standard deviations of noise, and shares of its structure."""

    structure: float  # least structure, sigmas
    n_tiles: float  # so many tiles with the least structure are enough in all
    gain: float  # least gain by a shift, sigmas
    gone: float  # a tile that keeps less of its structure has moved


class Buffers(NamedTuple):
    """Arrays that calls overwrite; see `count_cells`, `center_tiles` and `match_thirds`."""

    counts: Any
    values: Any  # 0 where the sensor has no cells
    energy: Any
    match: Any
    structure: Any  # (down, across, 2) float64 that two consecutive thirds share, beyond noise
    wanted: Any  # (down, across, 2) bool, whether that stands out


@njit
def share_of_moved(x, y, p, t, shift, shape, unit, most, n_values, limits, buffers):
    """Return the share of the structure of a window that has moved, 0 to 1; 0 if there is too little.

    x, y, p, shift : as for `count_cells`      t : (n,) int64, n > 0, increasing
    shape, unit, most : as for `center_tiles`
    n_values : (down, across) float64: cells of each tile, of both polarities
    limits : Limits      buffers : Buffers
    """
    n = x.size
    # Of equal numbers of events: those of an edge come as fast as it moves, also where it starts.
    ends = np.array((np.searchsorted(t, t[n // 3]), np.searchsorted(t, t[2 * n // 3]), n), np.int64)
    count_cells(x, y, p, ends, shift, buffers.counts)
    center_tiles(buffers.counts, shape, unit, most, buffers.values, buffers.energy)
    scale = 1.0 / (unit * unit)
    total, largest = _find_structure(n_values, scale, limits, buffers)
    least = limits.n_tiles * limits.structure * math.sqrt(largest)
    if not (total > least).any():
        return 0.0
    buffers.wanted[:, :, 0] &= total[0] > least
    buffers.wanted[:, :, 1] &= total[1] > least
    match_thirds(buffers.values, buffers.wanted, buffers.match)
    moved = _sum_moved(n_values, scale, limits, buffers)
    # Of an image that turns back, one third moves and the other does not.
    share = 0.0
    for third in range(2):
        if total[third] > least:
            share = max(share, moved[third] / max(total[third], 1.0))
    return share


@njit
def _find_structure(n_values, scale, limits, buffers):
    """Fill structure and wanted; return the sum of what stands out, (2,), and the most values of a tile."""
    total, largest = np.zeros(2), 0.0
    for i in range(n_values.shape[0]):
        for j in range(n_values.shape[1]):
            noise = n_values[i, j]
            largest = max(largest, noise)
            before = max(buffers.energy[i, j, 0] / scale - noise, 0.0)
            for third in range(2):
                after = max(buffers.energy[i, j, third + 1] / scale - noise, 0.0)
                structure = math.sqrt(before * after)
                stands_out = structure > limits.structure * math.sqrt(noise)
                buffers.structure[i, j, third] = structure
                buffers.wanted[i, j, third] = stands_out
                total[third] += structure if stands_out else 0.0
                before = after
    return total, largest


@njit
def _sum_moved(n_values, scale, limits, buffers):
    """Return the structure of the tiles that have moved, (2,)."""
    moved = np.zeros(2)
    for i in range(n_values.shape[0]):
        for j in range(n_values.shape[1]):
            gain = limits.gain * math.sqrt(n_values[i, j])
            for third in range(2):
                if buffers.wanted[i, j, third]:
                    match, structure = buffers.match[i, j, third], buffers.structure[i, j, third]
                    best, still = match.max() / scale, match[4] / scale
                    if best - still > gain or best < limits.gone * structure:
                        moved[third] += structure
    return moved


@njit
def count_cells(x, y, p, ends, shift, counts):
    """Count the events of every third, polarity and cell.

    x, y : (n,) uint16, px      p : (n,) uint8
    ends : (3,) int64: number of events up to the end of each third
    shift : a cell has 2**shift px
    counts : (3, 2, h, w) int32, filled; a border of one cell at the upper left stays 0, and so does what
        lies beyond the sensor
    """
    counts[:] = 0
    high, wide, bits = np.uint64(counts.shape[2]), np.uint64(counts.shape[3]), np.uint16(shift)
    flat = counts.reshape(-1)
    first = 0
    for third in range(3):
        base = np.uint64(2 * third) * high + _ONE
        for k in range(first, ends[third]):
            row = base + np.uint64(p[k]) * high + np.uint64(y[k] >> bits)
            flat[row * wide + np.uint64(x[k] >> bits) + _ONE] += 1
        first = ends[third]


@njit
def center_tiles(counts, shape, unit, most, values, energy):
    """Find the roots of counts minus the mean of their tile, and sum up the squares.

    The root of n events is the whole number next to ``2 sqrt(n + 3/8)`` over the unit.

    counts : (3, 2, 8 down + 2, 8 across + 2) int32, from `count_cells`
    shape : (2,) int64, rows and columns of the cells of the sensor
    unit : float32, a power of two      most : int32, largest count; more count as so many
    values : int16, of the same shape as counts; filled where the sensor has cells
    energy : (down, across, 3) int64, filled: sum of squares of each tile and third
    """
    rows, columns = shape[0], shape[1]
    high, wide, n_across = counts.shape[2], counts.shape[3], energy.shape[1]
    # Plain rows of flat arrays: rows of arrays with more axes are not vectorized.
    flat, out = counts.reshape(-1), values.reshape(-1)
    factor, largest = _TWO / np.float32(unit), np.int32(most)
    sums, means = np.empty(TILE * n_across, np.int32), np.empty(TILE * n_across, np.int32)
    energy[:] = 0
    for third in range(3):
        for polarity in range(2):
            start = ((2 * third + polarity) * high + 1) * wide + 1
            for down in range(energy.shape[0]):
                top, bottom = down * TILE, min((down + 1) * TILE, rows)
                # All tiles of a row at once.
                sums[:] = 0
                for i in range(top, bottom):
                    at = start + i * wide
                    row, root_of = flat[at : at + columns], out[at : at + columns]
                    for j in range(columns):
                        n = np.float32(min(row[j], largest)) + _LESS
                        root = np.int32(np.rint(factor * np.sqrt(n)))
                        root_of[j] = root
                        sums[j] += root
                for across in range(n_across):
                    first, last = across * TILE, min((across + 1) * TILE, columns)
                    total, size = 0, (bottom - top) * (last - first)
                    for j in range(first, last):
                        total += sums[j]
                    means[first:last] = (2 * total + size) // (2 * size)
                sums[:] = 0
                for i in range(top, bottom):
                    at = start + i * wide
                    root_of = out[at : at + columns]
                    for j in range(columns):
                        value = np.int32(np.int32(root_of[j]) - means[j])
                        root_of[j] = value
                        sums[j] += np.int32(value * value)
                for across in range(n_across):
                    for j in range(across * TILE, min((across + 1) * TILE, columns)):
                        energy[down, across, third] += sums[j]


@njit
def match_thirds(values, wanted, match):
    """Correlate each tile of a third with the next third, at rest and one cell further.

    values : (3, 2, 8 down + 2, 8 across + 2) int16, of `center_tiles`, below 2**11, so that sums over a
        tile fit into 32 bits; 0 where the sensor has no cells
    wanted : (down, across, 2) bool: tiles and thirds to correlate
    match : (down, across, 2, 9) int64, filled: shifts by rows -1, 0, 1, each with columns -1, 0, 1
    """
    high, wide, n_across = values.shape[2], values.shape[3], match.shape[1]
    flat, sums = values.reshape(-1), np.empty(TILE * n_across, np.int32)
    match[:] = 0
    for third in range(2):
        for down in range(match.shape[0]):
            if not wanted[down, :, third].any():
                continue
            for shift in range(9):
                step = (2 * high + shift // 3 - 1) * wide + shift % 3 - 1
                # All tiles of a row at once, as in `center_tiles`.
                sums[:] = 0
                for polarity in range(2):
                    for i in range(TILE):
                        row = (2 * third + polarity) * high + down * TILE + 1 + i
                        at = row * wide + 1
                        here = flat[at : at + sums.size]
                        there = flat[at + step : at + step + sums.size]
                        for j in range(sums.size):
                            sums[j] += np.int32(np.int32(here[j]) * np.int32(there[j]))
                for across in range(n_across):
                    if wanted[down, across, third]:
                        for j in range(across * TILE, (across + 1) * TILE):
                            match[down, across, third, shift] += sums[j]
