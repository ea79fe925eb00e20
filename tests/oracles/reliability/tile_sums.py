"""Sums over tiles, with matrices."""

import numpy as np


def quadratic_sum(along, tensor):
    """Return the sum of A^T T A."""
    return sum(
        (a.T @ t @ a for a, t in zip(along, tensor, strict=True)), np.zeros(2 * (along.shape[2],))
    )


def sums_of_parts(along, tensor, pull, part, n_parts):
    """Return the sums of A^T g and of the diagonals of A^T T A in every part."""
    pulls, blocks = np.zeros((2, n_parts, along.shape[2]))
    for a, t, g, r in zip(along, tensor, pull, part, strict=True):
        pulls[r] += a.T @ g
        blocks[r] += np.diag(a.T @ t @ a)
    return pulls, blocks


def across_edges(curvature, is_border, share):
    """Return tensors less what lies along their edges: all of it, or a share of what lies across."""
    out = []
    for tensor, at_border in zip(curvature, is_border, strict=True):
        (low, high), axes = np.linalg.eigh(tensor)
        apparent = max(low, 0.0) if at_border else share * max(high, 0.0)
        out.append(tensor - apparent * np.outer(axes[:, 0], axes[:, 0]))
    return np.array(out)


def is_border(x, y, displacement, sides, border):
    """Return which tiles are near a side of the view, or beyond it."""
    left, top, right, bottom = sides
    found = []
    for at_x, at_y, moved in zip(x, y, np.abs(displacement), strict=True):
        room = (
            min(at_x - left, right - at_x) - 0.5 * moved[0],
            min(at_y - top, bottom - at_y) - 0.5 * moved[1],
        )
        found.append(min(room) <= border)
    return found
