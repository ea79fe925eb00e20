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


def misaligned_share(tiles, side, shift, factor, floor_share, least, off_px):
    """Return the share of the events in parts that are off; ``tiles`` have row, column, pull, steepness, count."""
    parts = {}
    for row, column, *sums in tiles:
        parts.setdefault(((row + shift[0]) // side, (column + shift[1]) // side), []).append(sums)
    n_parts = np.prod([max(place[i] for place in parts) + 1 for i in range(2)])
    total = {
        place: [sum(column) for column in zip(*rows, strict=True)] for place, rows in parts.items()
    }
    tensors = {place: factor * np.array(sums[1]) for place, sums in total.items()}
    floor = floor_share * sum(t[0] + t[2] for t in tensors.values()) / n_parts + least
    n_off = n_all = 0.0
    for place, (pull, _, count) in total.items():
        xx, xy, yy = tensors[place]
        curvature = np.array(((xx + floor, xy), (xy, yy + floor)))
        # The step, weighted by the curvature, is pull^T H^-1 pull.
        gain = pull @ np.linalg.solve(curvature, pull)
        n_all += count
        n_off += count if gain > off_px**2 * 0.5 * np.trace(curvature) else 0.0
    return n_off / max(n_all, 1.0)
