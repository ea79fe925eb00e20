"""Contrast of the cells of a window at many displacements."""

import numpy as np

from evcrisp.kernels.compile import accumulating, fused

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@fused
def contrast_volume(x, y, tau, p, shifts, margin, scale, cell, volume):
    """Count the pairs of events that meet, per cell and displacement, above those of chance.

    Events vote for one pixel of a coarse map per polarity. Of v votes in a pixel, v^2 - v are pairs;
    votes spread evenly over the cell would give (sum of v)^2 / pixels.

    x, y : (n,) float32, px      tau : (n,) float32, time in windows since the middle
    p : (n,) uint8      shifts : (k, 2) float32, px per window
    margin : float, px around the sensor      scale : float, px of the sensor per pixel of the map
    cell : int64, side of a cell in pixels of the map
    volume : (k, rows, columns) float32, filled
    """
    n, rows, columns = x.size, volume.shape[1], volume.shape[2]
    height, width = rows * cell, columns * cell
    size = height * width
    # One pixel more, for votes outside.
    flat = np.empty(2 * size + 1, np.float32)
    to_map, start = np.float32(1.0 / scale), np.float32(margin / scale)
    across, down, pixel = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.int32)
    for i in range(n):
        across[i] = x[i] * to_map + start
        down[i] = y[i] * to_map + start
    sums = np.empty((4, width), np.float32)
    for k in range(shifts.shape[0]):
        _locate(
            across, down, tau, p, shifts[k, 0] * to_map, shifts[k, 1] * to_map,
            np.int32(height), np.int32(width), pixel,
        )  # fmt: skip
        flat[:] = _ZERO
        for i in range(n):
            flat[np.uint32(pixel[i])] += _ONE
        for r in range(rows):
            sums[:] = _ZERO
            for j in range(r * cell, (r + 1) * cell):
                off, on = j * width, size + j * width
                _add_row(flat[off : off + width], sums[0], sums[1])
                _add_row(flat[on : on + width], sums[2], sums[3])
            for c in range(columns):
                volume[k, r, c] = _pairs_above_chance(sums[:, c * cell : (c + 1) * cell], cell)


@fused
def _locate(across, down, tau, p, shift_x, shift_y, height, width, pixel):
    """Fill the pixel of each event on the maps of both polarities; a loop that vectorizes."""
    last_x, last_y = np.float32(width), np.float32(height)
    for i in range(pixel.size):
        u, v = across[i] - shift_x * tau[i], down[i] - shift_y * tau[i]
        inside = (u >= _ZERO) & (u < last_x) & (v >= _ZERO) & (v < last_y)
        at = (np.int32(p[i]) * height + np.int32(v)) * width + np.int32(u)
        pixel[i] = at if inside else 2 * height * width


@accumulating
def _add_row(row, total, square):
    for c in range(row.size):
        total[c] += row[c]
        square[c] += row[c] * row[c]


@accumulating
def _pairs_above_chance(sums, cell):
    """Return the pairs of both polarities above those of evenly spread votes."""
    pairs = _ZERO
    for q in range(2):
        total = square = _ZERO
        for c in range(cell):
            total += sums[2 * q, c]
            square += sums[2 * q + 1, c]
        pairs += square - total - total * total / np.float32(cell * cell)
    return pairs


@accumulating
def raised_contrast(volume, reached, out):
    """Sum over the cells how far each displacement raises the contrast that is reached already.

    volume : (k, n_cells) float32      reached : (n_cells,) float32      out : (k,) float32, filled
    """
    for k in range(volume.shape[0]):
        total = _ZERO
        for i in range(reached.size):
            total += max(volume[k, i] - reached[i], _ZERO)
        out[k] = total
