"""Oracle of the mean squared slope: every pixel with its own stencils."""

import numpy as np


def mean_square_slope(image):
    """Return the mean squared slope by Sobel filters, and its gradient."""
    smooth, step = np.array([1.0, 2.0, 1.0]) / 8.0, np.array([-1.0, 0.0, 1.0])
    total, gradient = 0.0, np.zeros(image.shape)
    for r in range(1, image.shape[0] - 1):
        for c in range(1, image.shape[1] - 1):
            for stencil in (np.outer(smooth, step), np.outer(step, smooth)):
                here = (slice(r - 1, r + 2), slice(c - 1, c + 2))
                slope = np.sum(stencil * image[here])
                total += slope**2 / image.size
                gradient[here] += 2.0 * slope * stencil / image.size
    return total, gradient
