"""Mean squared slope of an image by Sobel filters, and its gradient.

The outermost pixels have slope 0. Both filters are divided by 8: a ramp of 1 per pixel has slope 1.
The mean is over all pixels.
"""

from evcrisp.kernels.compile import njit, summing


@summing
def _row_energy(above, row, below):
    """Sum of squared slopes along a row."""
    total = 0.0
    for c in range(1, row.size - 1):
        step_x = above[c + 1] - above[c - 1] + below[c + 1] - below[c - 1]
        step_x = 0.125 * (step_x + 2.0 * (row[c + 1] - row[c - 1]))
        step_y = below[c - 1] - above[c - 1] + below[c + 1] - above[c + 1]
        step_y = 0.125 * (step_y + 2.0 * (below[c] - above[c]))
        total += step_x * step_x + step_y * step_y
    return total


@njit
def mean_square_slope(image):
    """Mean over the pixels of slope_x^2 + slope_y^2; image : (h, w) float64."""
    total = 0.0
    for r in range(1, image.shape[0] - 1):
        total += _row_energy(image[r - 1], image[r], image[r + 1])
    return total / image.size


@njit
def differentiate_mean_square_slope(image, lines):
    """Replace the image by the gradient; return the value of `mean_square_slope`.

    image : (h, w) float64
    lines : (6, w + 2) float64, zeros: ring buffers of three rows of slopes along x, and along y
    """
    height = image.shape[0]
    total = 0.0
    for r in range(1, height + 1):
        slope_x, slope_y = lines[r % 3], lines[3 + r % 3]
        if r < height - 1:
            total += _row_energy(image[r - 1], image[r], image[r + 1])
            _fill_slopes(image[r - 1], image[r], image[r + 1], slope_x, slope_y)
        else:
            slope_x[:] = 0.0
            slope_y[:] = 0.0
        # Row r - 1 is not read again, and its three rows of slopes are complete.
        first, second = (r - 2) % 3, (r - 1) % 3
        _fill_adjoint(lines[first], lines[second], slope_x, lines[3 + first], slope_y, image[r - 1])
        _scale(image[r - 1], 0.25 / image.size)
    return total / image.size


@njit
def _fill_slopes(above, row, below, slope_x, slope_y):
    """Fill in the slopes along a row; column c at c + 1."""
    for c in range(1, row.size - 1):
        step_x = above[c + 1] - above[c - 1] + below[c + 1] - below[c - 1]
        slope_x[c + 1] = 0.125 * (step_x + 2.0 * (row[c + 1] - row[c - 1]))
        step_y = below[c - 1] - above[c - 1] + below[c + 1] - above[c + 1]
        slope_y[c + 1] = 0.125 * (step_y + 2.0 * (below[c] - above[c]))


@njit
def _scale(row, factor):
    for c in range(row.size):
        row[c] *= factor


@njit
def _fill_adjoint(x_above, x_row, x_below, y_above, y_below, out):
    """Apply the transposed filters to three rows of slopes; column c at c + 1."""
    for c in range(out.size):
        left = x_above[c] + 2.0 * x_row[c] + x_below[c]
        right = x_above[c + 2] + 2.0 * x_row[c + 2] + x_below[c + 2]
        upper = y_above[c] + 2.0 * y_above[c + 1] + y_above[c + 2]
        lower = y_below[c] + 2.0 * y_below[c + 1] + y_below[c + 2]
        out[c] = left - right + upper - lower
