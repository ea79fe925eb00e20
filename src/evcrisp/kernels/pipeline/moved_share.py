"""Maps of the three thirds of a window, and how well each third matches the next, tile by tile.

All numbers are whole: results do not depend on the order of sums, and so not on the machine.
"""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def count_cells(x, y, p, ends, shift, counts):
    """Count the events of every third, polarity and cell.

    x, y : (n,) uint16, px      p : (n,) uint8
    ends : (3,) int64: number of events up to the end of each third
    shift : a cell has 2**shift px
    counts : (3, 2, rows + 2, columns + 2) int32, filled; a border of one cell stays 0
    """
    counts[:] = 0
    first = 0
    for third in range(3):
        part = counts[third]
        for k in range(first, ends[third]):
            part[p[k], (y[k] >> shift) + 1, (x[k] >> shift) + 1] += 1
        first = ends[third]


@njit
def center_tiles(counts, roots, tile, energy):
    """Replace counts by their roots minus the mean of the tile, and sum up the squares.

    counts : (3, 2, rows + 2, columns + 2) int32, replaced
    roots : (k,) int32: value of each count; larger counts have the last value
    tile : cells per side of a tile
    energy : (down, across, 3) int64, filled: sum of squares of each tile and third
    """
    rows, columns = counts.shape[2] - 2, counts.shape[3] - 2
    largest = np.int32(roots.size - 1)
    energy[:] = 0
    for third in range(3):
        for polarity in range(2):
            part = counts[third, polarity]
            for down in range(energy.shape[0]):
                top, bottom = down * tile + 1, min((down + 1) * tile, rows) + 1
                for across in range(energy.shape[1]):
                    left, right = across * tile + 1, min((across + 1) * tile, columns) + 1
                    total = 0
                    for i in range(top, bottom):
                        for j in range(left, right):
                            part[i, j] = roots[min(part[i, j], largest)]
                            total += part[i, j]
                    size = (bottom - top) * (right - left)
                    mean = np.int32((2 * total + size) // (2 * size))
                    squares = 0
                    for i in range(top, bottom):
                        for j in range(left, right):
                            part[i, j] -= mean
                            squares += part[i, j] * part[i, j]
                    energy[down, across, third] += squares


@njit
def match_thirds(values, tile, wanted, match):
    """Correlate each tile of a third with the next third, at rest and one cell further.

    values : (3, 2, rows + 2, columns + 2) int32, of `center_tiles`
    wanted : (down, across, 2) bool: tiles and thirds to correlate
    match : (down, across, 2, 9) int64, filled: shifts by rows -1, 0, 1, each with columns -1, 0, 1
    """
    rows, columns = values.shape[2] - 2, values.shape[3] - 2
    match[:] = 0
    for down in range(match.shape[0]):
        top, bottom = down * tile + 1, min((down + 1) * tile, rows) + 1
        for across in range(match.shape[1]):
            left, right = across * tile + 1, min((across + 1) * tile, columns) + 1
            for third in range(2):
                if not wanted[down, across, third]:
                    continue
                for polarity in range(2):
                    here, there = values[third, polarity], values[third + 1, polarity]
                    for shift in range(9):
                        dy, dx = shift // 3 - 1, shift % 3 - 1
                        total = 0
                        for i in range(top, bottom):
                            for j in range(left, right):
                                total += here[i, j] * there[i + dy, j + dx]
                        match[down, across, third, shift] += total
