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
    high, wide = counts.shape[2], counts.shape[3]
    rows, columns = shape[0], shape[1]
    flat, out = counts.reshape(-1), values.reshape(-1)
    largest = np.int32(roots.size - 1)
    energy[:] = 0
    for third in range(3):
        for polarity in range(2):
            start = (2 * third + polarity) * high + 1
            for down in range(energy.shape[0]):
                top, n_rows = start + down * TILE, min(TILE, rows - down * TILE)
                for across in range(energy.shape[1]):
                    n_columns = min(TILE, columns - across * TILE)
                    corner = np.uint64(top * wide + across * TILE + 1)
                    total, at = np.int32(0), corner
                    for _ in range(n_rows):
                        for j in range(n_columns):
                            k = at + np.uint64(j)
                            root = roots[np.uint64(min(flat[k], largest))]
                            out[k] = root
                            total += root
                        at += np.uint64(wide)
                    size = n_rows * n_columns
                    mean = np.int32((2 * total + size) // (2 * size))
                    squares, at = np.int32(0), corner
                    for _ in range(n_rows):
                        for j in range(n_columns):
                            k = at + np.uint64(j)
                            value = np.int32(out[k] - mean)
                            out[k] = value
                            squares = np.int32(squares + value * value)
                        at += np.uint64(wide)
                    energy[down, across, third] += squares


@njit
def match_thirds(values, wanted, match):
    """Correlate each tile of a third with the next third, at rest and one cell further.

    values : (3, 2, 8 down + 2, 8 across + 2) int16, of `center_tiles`; 0 where the sensor has no cells
    wanted : (down, across, 2) bool: tiles and thirds to correlate
    match : (down, across, 2, 9) int64, filled: shifts by rows -1, 0, 1, each with columns -1, 0, 1
    """
    high, wide = values.shape[2], values.shape[3]
    flat = values.reshape(-1)
    match[:] = 0
    for down in range(match.shape[0]):
        for across in range(match.shape[1]):
            for third in range(2):
                if not wanted[down, across, third]:
                    continue
                for polarity in range(2):
                    row = (2 * third + polarity) * high + down * TILE + 1
                    corner = np.uint64(row * wide + across * TILE + 1)
                    for shift in range(9):
                        step = (2 * high + shift // 3 - 1) * wide + shift % 3 - 1
                        total = _correlation(flat, corner, corner + np.uint64(step), np.uint64(wide))
                        match[down, across, third, shift] += total


@njit
def _correlation(flat, here, there, wide):
    """Return the sum of the products of two tiles, given the places of their first cells.

    Roots of counts are below 2**11: the sum fits into 32 bits.
    """
    total = np.int32(0)
    for _ in range(TILE):
        for j in range(TILE):
            k = np.uint64(j)
            total = np.int32(total + np.int32(flat[here + k]) * np.int32(flat[there + k]))
        here += wide
        there += wide
    return total
