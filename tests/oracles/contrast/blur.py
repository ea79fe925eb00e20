"""Oracle of the blur: a product with two filter matrices."""

import numpy as np


def blur(image, taps):
    """Return the image filtered along both axes; taps starts at the center."""
    height, width = image.shape

    def matrix(size):
        distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        return np.where(distance < taps.size, taps[np.minimum(distance, taps.size - 1)], 0.0)

    return matrix(height) @ image @ matrix(width)
