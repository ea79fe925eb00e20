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
    n_down, n_across = match.shape[:2]
    columns = np.empty(TILE * n_across, np.int32)
    match[:] = 0
    for third in range(2):
        for down in range(n_down):
            if not wanted[down, :, third].any():
                continue
            for shift in range(9):
                # All tiles of a row at once: a long loop, which is vectorized.
                columns[:] = 0
                for polarity in range(2):
                    here, there = values[third, polarity], values[third + 1, polarity]
                    for i in range(down * TILE + 1, (down + 1) * TILE + 1):
                        row, column = i + shift // 3 - 1, shift % 3
                        last = columns.size + column
                        _add_products(here[i, 1:-1], there[row, column:last], columns)
                for across in range(n_across):
                    if wanted[down, across, third]:
                        total = 0
                        for j in range(across * TILE, (across + 1) * TILE):
                            total += columns[j]
                        match[down, across, third, shift] = total


@njit
def _add_products(here, there, columns):
    """Add the products of two rows. Values are below 2**11: the sums of a tile fit into 32 bits."""
    for j in range(columns.size):
        columns[j] += np.int32(here[j] * there[j])
