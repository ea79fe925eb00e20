"""Displacement by which the parts of an aligned window are still off."""

import numpy as np

from evcrisp.kernels.compile import fused
from evcrisp.kernels.contrast.spline import accumulate, locate, slope_at


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
    flat = image.reshape(-1)
    for k in range(n):
        # First: positions outside may be no numbers.
        if cell[k] < 0:
            continue
        r, c = int(max(y[k], 0.0) / cell_px), int(max(x[k], 0.0) / cell_px)
        if r >= rows or c >= columns:
            continue
        slope_x, slope_y = slope_at(flat, np.uint64(cell[k]), np.uint64(wide), a[k], b[k])
        pull[r, c, 0] -= 2.0 * gain * tau[k] * slope_x
        pull[r, c, 1] -= 2.0 * gain * tau[k] * slope_y
        count[r, c] += 1.0
    # Times spread evenly over the window have a variance of 1/12.
    factor = 2.0 * gain * gain / 12.0
    for i in range(1, 2 * high - 1):
        r = int(max(((i % high) - start) * scale, 0.0) / cell_px)
        if r >= rows or i % high == 0 or i % high == high - 1:
            continue
        for j in range(1, wide - 1):
            c = int(max((j - start) * scale, 0.0) / cell_px)
            if c < columns:
                across = np.float32(0.5) * (image[i, j + 1] - image[i, j - 1])
                down = np.float32(0.5) * (image[i + 1, j] - image[i - 1, j])
                tensor[r, c, 0] += factor * across * across
                tensor[r, c, 1] += factor * across * down
                tensor[r, c, 2] += factor * down * down
