"""How much of the image has moved: tile by tile, with NumPy."""

import numpy as np


def cell_counts(x, y, p, ends, shift, resolution):
    """Return the events of every third, polarity and cell, shape (3, 2, rows, columns)."""
    columns, rows = (-(-side // 2**shift) for side in resolution)
    counts = np.zeros((3, 2, rows, columns), np.int64)
    first = 0
    for third, last in enumerate(ends):
        part = slice(first, last)
        index = p[part].astype(int), y[part] // 2**shift, x[part] // 2**shift
        np.add.at(counts[third], index, 1)
        first = last
    return counts


def centered(counts, roots, tile):
    """Return roots of the counts minus the mean of their tile, and the squares of each tile."""
    values = np.asarray(roots, np.int64)[np.minimum(counts, len(roots) - 1)]
    down, across = (-(-side // tile) for side in counts.shape[2:])
    energy = np.zeros((down, across, 3), np.int64)
    for i in range(down):
        for j in range(across):
            here = (..., slice(i * tile, (i + 1) * tile), slice(j * tile, (j + 1) * tile))
            mean = np.floor(values[here].mean(axis=(2, 3), keepdims=True) + 0.5).astype(np.int64)
            values[here] -= mean
            energy[i, j] = (values[here] ** 2).sum(axis=(1, 2, 3))
    return values, energy


def matches(values, tile):
    """Return the correlation of each tile of a third with the next third at nine shifts."""
    padded = np.pad(values, ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = values.shape[2:]
    down, across = -(-rows // tile), -(-columns // tile)
    out = np.zeros((down, across, 2, 9), np.int64)
    for third in range(2):
        for shift in range(9):
            top, left = divmod(shift, 3)
            there = padded[third + 1, :, top : top + rows, left : left + columns]
            product = (values[third] * there).sum(axis=0)
            for i in range(down):
                for j in range(across):
                    part = product[i * tile : (i + 1) * tile, j * tile : (j + 1) * tile]
                    out[i, j, third, shift] = part.sum()
    return out


def share(thirds, resolution, roots, unit, tile, limits):
    """Return the share of the structure that has moved, from the counts of the thirds of a window."""
    least, n_tiles, least_gain, gone = limits
    values, energy = centered(thirds, roots, tile)
    match = matches(values, tile) * unit**2
    rows, columns = thirds.shape[2:]
    sides = [
        np.array([min(tile, n - first) for first in range(0, n, tile)]) for n in (rows, columns)
    ]
    n_values = 2.0 * np.outer(*sides)[..., None]
    sigma = np.sqrt(n_values)
    beyond = np.maximum(energy * unit**2 - n_values, 0.0)
    structure = np.sqrt(beyond[..., :2] * beyond[..., 1:])
    stands_out = structure > least * sigma
    total = (structure * stands_out).sum(axis=(0, 1))
    is_enough = total > n_tiles * least * sigma.max()
    best, still = match.max(axis=-1), match[..., 4]
    moved = stands_out & ((best - still > least_gain * sigma) | (best < gone * structure))
    shares = (structure * moved).sum(axis=(0, 1)) / np.maximum(total, 1.0)
    return max(shares[is_enough], default=0.0)
