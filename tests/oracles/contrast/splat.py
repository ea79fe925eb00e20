"""Oracles of the splat kernels: every event against every pixel of the map.

A function here stands for one kernel per footprint, such as `accumulate_bilinear`. The weight of an
event on a pixel is the product of its weights along both axes.
"""

import math

import numpy as np


def reach(footprint, position, size):
    """Return whether a position along an axis is on the map."""
    low, high = {
        "nearest": (-0.5, size - 0.5),
        "bilinear": (0.0, size - 1.0),
        "spline": (0.5, size - 1.5),
        "gaussian": (-0.5, size - 0.5),
    }[footprint]
    # The last pixel is on a bilinear map, like the first.
    return low <= position < high or (footprint == "bilinear" and position == high)


def profile(footprint, position, size, sigma=1.0, radius=4):
    """Return the weights of all pixels of an axis, and their derivatives by position."""
    pixels = np.arange(size)
    d = pixels - position
    far = np.abs(d)
    if footprint == "nearest":
        return np.where(pixels == math.floor(position + 0.5), 1.0, 0.0), np.zeros(size)
    if footprint == "bilinear":
        # At a whole pixel the derivative is that of its right side, d in (-1, 0].
        inner, after = (d > -1.0) & (d <= 1.0), d > 0.0
        if position == size - 1:  # the last pixel has no right side
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
    """Return the value at every event, shape (n,)."""
    return _values_and_slopes(footprint, image, x, y, **gaussian)[0]


def slope(footprint, image, x, y, **gaussian):
    """Return the derivatives of the value by x and by y, shape (2, n)."""
    return _values_and_slopes(footprint, image, x, y, **gaussian)[1:]


def _values_and_slopes(footprint, image, x, y, **gaussian):
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
