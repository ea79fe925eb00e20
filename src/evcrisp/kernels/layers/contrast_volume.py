"""Contrast of the cells of a window at many displacements."""

import numpy as np

from evcrisp.kernels.compile import accumulating, fused


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
    rows, columns = volume.shape[1], volume.shape[2]
    height, width = rows * cell, columns * cell
    image = np.empty((2, height, width), np.float32)
    flat, layer = image.reshape(-1), height * width
    to_map = np.float32(1.0 / scale)
    start = np.float32(margin / scale)
    for k in range(shifts.shape[0]):
        flat[:] = np.float32(0.0)
        shift_x, shift_y = shifts[k, 0] * to_map, shifts[k, 1] * to_map
        for i in range(x.size):
            column = np.int64(x[i] * to_map + start - shift_x * tau[i])
            row = np.int64(y[i] * to_map + start - shift_y * tau[i])
            # Unsigned: one comparison per axis for both sides.
            if np.uint64(column) < np.uint64(width) and np.uint64(row) < np.uint64(height):
                flat[np.uint64(p[i] * layer + row * width + column)] += np.float32(1.0)
        for r in range(rows):
            for c in range(columns):
                volume[k, r, c] = _pairs_above_chance(
                    image[:, r * cell : (r + 1) * cell, c * cell : (c + 1) * cell]
                )


@accumulating
def _pairs_above_chance(image):
    """Return the pairs on the maps of both polarities above those of evenly spread votes."""
    pairs = np.float32(0.0)
    n_pixels = np.float32(image.shape[1] * image.shape[2])
    for q in range(2):
        total = square = np.float32(0.0)
        for r in range(image.shape[1]):
            for c in range(image.shape[2]):
                total += image[q, r, c]
                square += image[q, r, c] * image[q, r, c]
        pairs += square - total - total * total / n_pixels
    return pairs
