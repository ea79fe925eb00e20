"""The kernels of contrast maps, slow and obvious: every event against every pixel of the map.

A footprint is a function of the distance along one axis; an event weighs a pixel by the product
of both axes.
"""

import math

import numpy as np


def reach(footprint, position, size):
    """Whether an event at this position of an axis is on the map."""
    low, high = {
        "nearest": (-0.5, size - 0.5),
        "bilinear": (0.0, size - 1.0),
        "spline": (0.5, size - 1.5),
        "gaussian": (-0.5, size - 0.5),
    }[footprint]
    # The last pixel is on the map as the first one is, with nothing beyond it.
    return low <= position < high or (footprint == "bilinear" and position == high)


def profile(footprint, position, size, sigma=1.0, radius=4):
    """Return the weights of all pixels of an axis, and their derivatives by position."""
    pixels = np.arange(size)
    d = pixels - position
    far = np.abs(d)
    if footprint == "nearest":
        return np.where(pixels == math.floor(position + 0.5), 1.0, 0.0), np.zeros(size)
    if footprint == "bilinear":
        # At a whole pixel the derivative is that of the pixel's right side, d in (-1, 0].
        inner, after = (d > -1.0) & (d <= 1.0), d > 0.0
        if position == size - 1:  # but for the last one, which has none
            inner, after = d >= -1.0, d >= 0.0
        slope = np.where(inner, np.where(after, 1.0, -1.0), 0.0) if size > 1 else np.zeros(1)
        return np.maximum(1.0 - far, 0.0), slope
    if footprint == "spline":
        middle = 0.75 - d * d
        side = 0.5 * (1.5 - far) ** 2
        weight = np.where(far < 0.5, middle, np.where(far < 1.5, side, 0.0))
        slope = np.where(far < 0.5, 2.0 * d, np.where(far < 1.5, np.sign(d) * (1.5 - far), 0.0))
        return weight, slope
    near = np.abs(pixels - math.floor(position + 0.5)) <= radius
    density = np.exp(-0.5 * (d / sigma) ** 2) / (sigma * math.sqrt(2.0 * math.pi))
    weight = np.where(near, density, 0.0)
    return weight, weight * d / sigma**2


def accumulate(footprint, x, y, weight, shape, **gaussian):
    """Return the map of all events, shape (h, w)."""
    out = np.zeros(shape)
    for xk, yk, w in zip(x, y, weight, strict=True):
        if reach(footprint, xk, shape[1]) and reach(footprint, yk, shape[0]):
            columns, _ = profile(footprint, xk, shape[1], **gaussian)
            rows, _ = profile(footprint, yk, shape[0], **gaussian)
            out += w * np.outer(rows, columns)
    return out


def sample(footprint, image, x, y, **gaussian):
    """Return the value at every event and its derivatives by x and by y, shape (3, n)."""
    out = np.zeros((3, len(x)))
    height, width = image.shape
    for k, (xk, yk) in enumerate(zip(x, y, strict=True)):
        if reach(footprint, xk, width) and reach(footprint, yk, height):
            columns, columns_slope = profile(footprint, xk, width, **gaussian)
            rows, rows_slope = profile(footprint, yk, height, **gaussian)
            out[0, k] = rows @ image @ columns
            out[1, k] = rows @ image @ columns_slope
            out[2, k] = rows_slope @ image @ columns
    return out


def blur(image, taps):
    """Return the image filtered along both axes; taps has the middle first."""
    height, width = image.shape

    def matrix(size):
        distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        return np.where(distance < taps.size, taps[np.minimum(distance, taps.size - 1)], 0.0)

    return matrix(height) @ image @ matrix(width)


def mean_square_slope(image):
    """Return the mean squared slope by Sobel's filters and its gradient by brute force."""
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
