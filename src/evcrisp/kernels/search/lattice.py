"""Contrast of translations on a coarse map, one after the other in one call."""

import numpy as np

from evcrisp.kernels.compile import fused
from evcrisp.kernels.contrast.spline import locate_and_accumulate, sum_of_squares
from evcrisp.kernels.motion.translation import warp


@fused
def squares_of_translations(thetas, x, y, dt, gain, shift_x, shift_y, shape, out):
    """Fill the sum of squares of the map of each translation.

    thetas : (k, 2) float64, px/s      x, y, dt : (n,) float64      out : (k,) float64, filled
    gain, shift_x, shift_y : as of `spline.locate`      shape : height and width of the map
    """
    n = x.size
    at_x, at_y, a, b = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    cell, image = np.empty(n, np.int32), np.empty(shape)
    for k in range(out.size):
        warp(thetas[k], x, y, dt, at_x, at_y)
        locate_and_accumulate(at_x, at_y, gain, shift_x, shift_y, cell, a, b, image)
        out[k] = sum_of_squares(image)
