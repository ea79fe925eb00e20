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
