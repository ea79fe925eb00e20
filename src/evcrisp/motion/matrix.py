"""Homographies as arrays of shape (..., 3, 3)."""

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats

Points = tuple[Floats, Floats]  # x and y, px


def stacked(rows: tuple[tuple[ArrayLike, ...], ...]) -> Floats:
    """Put nine entries, each a number or an array, into matrices of shape (..., 3, 3)."""
    entries = np.broadcast_arrays(*(np.asarray(entry, np.float64) for row in rows for entry in row))
    return np.stack(entries, axis=-1).reshape(*entries[0].shape, 3, 3)


def in_front(depth: Floats) -> Floats:
    """Return depths to divide by: NaN behind the camera, where no point has an image."""
    return np.where(depth > 0.0, depth, np.nan)


def apply(matrix: Floats, x: ArrayLike, y: ArrayLike) -> Points:
    """Move points by homographies; one matrix for all points, or one for each.

    >>> shift = np.array([[1.0, 0.0, 5.0], [0.0, 1.0, -2.0], [0.0, 0.0, 1.0]])
    >>> [values.tolist() for values in apply(shift, [0.0, 1.0], [3.0, 3.0])]
    [[5.0, 6.0], [1.0, 1.0]]
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    m = matrix
    depth = in_front(m[..., 2, 0] * x + m[..., 2, 1] * y + m[..., 2, 2])
    return (
        (m[..., 0, 0] * x + m[..., 0, 1] * y + m[..., 0, 2]) / depth,
        (m[..., 1, 0] * x + m[..., 1, 1] * y + m[..., 1, 2]) / depth,
    )


def apply_inverse(matrix: Floats, x: ArrayLike, y: ArrayLike) -> Points:
    """Move points back by homographies."""
    return apply(np.linalg.inv(matrix).astype(np.float64), x, y)


def about(center: tuple[float, float], matrix: Floats, scale: float = 1.0) -> Floats:
    """Turn a matrix on ``(x - cx, y - cy) / scale`` into one on pixels."""
    cx, cy = center
    to_pixels = np.array([[scale, 0.0, cx], [0.0, scale, cy], [0.0, 0.0, 1.0]])
    return to_pixels @ matrix @ np.linalg.inv(to_pixels)
