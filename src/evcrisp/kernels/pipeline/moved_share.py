"""Maps of the three thirds of a window, and how well each third matches the next, tile by tile.

All numbers are whole: results do not depend on the order of sums, and so not on the machine.
"""

import numpy as np

from evcrisp.kernels.compile import njit

#: Cells per side of a tile. A constant, so that the loops over a tile are unrolled.
TILE = 8

_ONE = np.uint64(1)


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
def center_tiles(counts, shape, roots, values, energy):
    """Find the roots of counts minus the mean of their tile, and sum up the squares.

    counts : (3, 2, 8 down + 2, 8 across + 2) int32, from `count_cells`
    shape : (2,) int64, rows and columns of the cells of the sensor
    roots : (k,) int32, below 2**15: value of each count; larger counts have the last value
    values : int16, of the same shape as counts; filled where the sensor has cells
    energy : (down, across, 3) int64, filled: sum of squares of each tile and third
    """
    rows, columns = shape[0], shape[1]
    high, wide, n_across = counts.shape[2], counts.shape[3], energy.shape[1]
    # Plain rows of flat arrays: rows of arrays with more axes are not vectorized.
    flat, out, largest = counts.reshape(-1), values.reshape(-1), np.int32(roots.size - 1)
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
                        root = roots[np.uint64(min(row[j], largest))]
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
