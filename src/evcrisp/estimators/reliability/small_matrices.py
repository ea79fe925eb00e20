"""Symmetric matrices of a few parameters: two have closed forms, which take a tenth of the time."""

import math

import numpy as np

from evcrisp.core.types import Floats


def symmetric_axes(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of a symmetric matrix, (m,) increasing, and eigenvectors in columns.

    >>> values, axes = symmetric_axes(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(9).tolist(), np.abs(axes).round(3).tolist()
    ([1.0, 3.0], [[0.707, 0.707], [0.707, 0.707]])
    """
    if len(matrix) != 2:
        values, axes = np.linalg.eigh(matrix)
        return values, axes
    xx, xy, yy = float(matrix[0, 0]), float(matrix[1, 0]), float(matrix[1, 1])
    mean, difference = 0.5 * (xx + yy), 0.5 * (xx - yy)
    half = math.hypot(difference, xy)
    # Of both forms of the eigenvector, the one without cancellation.
    u, v = (difference + half, xy) if difference >= 0.0 else (xy, half - difference)
    length = math.hypot(u, v)
    u, v = (u / length, v / length) if length > 0.0 else (0.0, 1.0)
    return np.array((mean - half, mean + half)), np.array(((-v, u), (u, v)))


def inverse_product(matrix: Floats, vector: Floats) -> float:
    """Return the product v^T M^-1 v of a positive definite matrix, (m, m), and a vector, (m,).

    >>> inverse_product(np.diag((2.0, 4.0)), np.array((2.0, 2.0)))
    3.0
    """
    if len(matrix) == 1:
        return float(vector[0] ** 2 / matrix[0, 0])
    if len(matrix) != 2:
        return float(vector @ np.linalg.solve(matrix, vector)) if len(vector) else 0.0
    (xx, xy), (_, yy) = matrix.tolist()
    a, b = vector.tolist()
    return (yy * a * a - 2.0 * xy * a * b + xx * b * b) / (xx * yy - xy * xy)
