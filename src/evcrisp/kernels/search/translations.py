"""Contrast of translations: of one with its slope, of many one after the other, in one call."""

import numpy as np

from evcrisp.kernels.compile import fused
from evcrisp.kernels.contrast.spline import locate_and_accumulate, slopes, sum_of_squares
from evcrisp.kernels.motion.translation import pull_back, warp


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


@fused
def square_of_translation(theta, x, y, dt, gain, shift_x, shift_y, cell, columns, image, slope):
    """Return the sum of squares of the map of a translation; fill half of its slope, times the scale.

    theta : (2,) float64, px/s      x, y, dt : (n,) float64
    gain, shift_x, shift_y : as of `spline.locate`      cell : (n,) int32, overwritten
    columns : (4, n) float64, overwritten      image : (h, w) float64, filled: the map
    slope : (2,) float64, filled: half of the derivative by theta, times the scale 1 / gain
    """
    a, b, at_x, at_y = columns[0], columns[1], columns[2], columns[3]
    warp(theta, x, y, dt, at_x, at_y)
    locate_and_accumulate(at_x, at_y, gain, shift_x, shift_y, cell, a, b, image)
    # The positions are not needed any more.
    slopes(cell, a, b, image, at_x, at_y)
    slope[:] = 0.0
    pull_back(theta, x, y, dt, at_x, at_y, slope)
    return sum_of_squares(image)
