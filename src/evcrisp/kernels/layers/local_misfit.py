"""What a motion leaves unexplained: events without support, and parts that are still off."""

import numpy as np

from evcrisp.kernels.compile import accumulating, fused, njit
from evcrisp.kernels.contrast.spline import accumulate, locate, slope_at


@njit
def count_noise(x, y, signal, cell_px, counts):
    """Count the events that are not signal in square cells.

    x, y : (n,) uint16      signal : (n,) bool      counts : (rows, columns) int64, filled
    """
    counts[:] = 0
    # A table instead of divisions, which take as long as all the rest.
    size = max(counts.shape[0], counts.shape[1]) * cell_px
    cell = np.empty(size, np.uint32)
    for k in range(size):
        cell[k] = k // cell_px
    for k in range(x.size):
        counts[cell[y[k]], cell[x[k]]] += not signal[k]


@fused
def parts_of(x, y, cell, side, rows, columns, part):
    """Fill the square part of every event, row by row; -1 outside. A loop that vectorizes.

    x, y : (n,) float64, px      cell : (n,) integers, -1 for positions off the map      side : px
    rows, columns : of the parts      part : (n,) int32, filled
    """
    for k in range(x.size):
        # Positions off the map may be no numbers.
        inside = cell[k] >= 0
        down, across = (y[k] if inside else 0.0), (x[k] if inside else 0.0)
        r, c = np.int32(max(down, 0.0) / side), np.int32(max(across, 0.0) / side)
        part[k] = r * np.int32(columns) + c if inside & (r < rows) & (c < columns) else -1


@fused
def local_terms(x, y, tau, p, scale, margin, shape, cell_px, pull, tensor, count):
    """Sum gradient and curvature of the contrast with respect to the displacement of each cell.

    x, y : (n,) float64, aligned, px      tau : (n,) float32, windows      p : (n,) uint8
    scale : px per pixel of the map      margin : px around the sensor      shape : (height, width), px
    cell_px : side of a cell, px
    pull : (rows, columns, 2) float64, filled: gradient along x and y, per px per window
    tensor : (rows, columns, 3) float64, filled: minus the curvature xx, xy, yy
    count : (rows, columns) float64, filled: events
    """
    rows, columns = count.shape
    wide = int((shape[1] + 2.0 * margin) / scale) + 4
    high = int((shape[0] + 2.0 * margin) / scale) + 4
    n, start, gain = x.size, margin / scale + 1.5, 1.0 / scale
    image = np.empty((2 * high, wide), np.float32)
    cell, a, b = np.empty(n, np.int64), np.empty(n, np.float32), np.empty(n, np.float32)
    locate(x, y, gain, start, start, np.array((high, wide)), cell, a, b)
    for k in range(n):
        cell[k] += np.int64(p[k]) * high * wide if cell[k] >= 0 else 0
    accumulate(cell, a, b, image)
    pull[:] = 0.0
    tensor[:] = 0.0
    count[:] = 0.0
    flat, part = image.reshape(-1), np.empty(n, np.int32)
    parts_of(x, y, cell, cell_px, rows, columns, part)
    pulls, counts = pull.reshape(-1, 2), count.reshape(-1)
    for k in range(n):
        q = part[k]
        if q < 0:
            continue
        slope_x, slope_y = slope_at(flat, np.uint64(cell[k]), np.uint64(wide), a[k], b[k])
        pulls[q, 0] -= 2.0 * gain * tau[k] * slope_x
        pulls[q, 1] -= 2.0 * gain * tau[k] * slope_y
        counts[q] += 1.0
    # Times spread evenly over the window have a variance of 1/12.
    factor = 2.0 * gain * gain / 12.0
    edges = _edges(columns, wide, start, scale, cell_px)
    for polarity in range(2):
        first, last = _rows_with_events(cell, polarity * high * wide, high, wide)
        for i in range(max(first - 1, 1), min(last + 4, high - 1)):
            r = int(max((i - start) * scale, 0.0) / cell_px)
            if r >= rows:
                break
            at = polarity * high + i
            for c in range(columns):
                xx, xy, yy = _slope_products(
                    image[at - 1], image[at], image[at + 1], edges[c], edges[c + 1]
                )
                tensor[r, c, 0] += factor * xx
                tensor[r, c, 1] += factor * xy
                tensor[r, c, 2] += factor * yy


@fused
def _edges(columns, wide, start, scale, cell_px):
    """Return the first pixel of a row of the map in each cell, and the end of the last cell."""
    edges = np.empty(columns + 1, np.int64)
    c, edges[0] = 0, 1
    for j in range(1, wide - 1):
        here = int(max((j - start) * scale, 0.0) / cell_px)
        while c < here and c < columns:
            c += 1
            edges[c] = j
    edges[c + 1 :] = wide - 1
    return edges


@fused
def _rows_with_events(cell, first_cell, high, wide):
    """Return the first and last upper left row of the events on one of both maps."""
    first, last = high * wide, -1
    for k in range(cell.size):
        at = cell[k] - first_cell
        inside = (cell[k] >= 0) & (at >= 0) & (at < high * wide)
        first = min(first, at) if inside else first
        last = max(last, at) if inside else last
    return (first // wide, last // wide) if last >= 0 else (high, -9)


@accumulating
def _slope_products(above, row, below, first, last):
    """Return the sums of squares and products of the slopes along a row."""
    xx = xy = yy = np.float32(0.0)
    half = np.float32(0.5)
    for j in range(first, last):
        across, down = half * (row[j + 1] - row[j - 1]), half * (below[j] - above[j])
        xx += across * across
        xy += across * down
        yy += down * down
    return xx, xy, yy
