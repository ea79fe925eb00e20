"""Slow and obvious version of the contrast volume."""

import math

import numpy as np


def contrast_volume(x, y, tau, p, shifts, margin, scale, cell, shape):
    """Return the pairs of events that meet above those of chance, (n_shifts, rows, columns)."""
    rows, columns = shape
    volume = np.zeros((len(shifts), rows, columns))
    for k, (along_x, along_y) in enumerate(shifts):
        votes = np.zeros((2, rows * cell, columns * cell))
        for i in range(len(x)):
            u = (x[i] - along_x * tau[i] + margin) / scale
            v = (y[i] - along_y * tau[i] + margin) / scale
            if 0 <= u < columns * cell and 0 <= v < rows * cell:
                votes[p[i], math.floor(v), math.floor(u)] += 1
        for r in range(rows):
            for c in range(columns):
                for q in range(2):
                    part = votes[q, r * cell : (r + 1) * cell, c * cell : (c + 1) * cell]
                    pairs = (part * (part - 1)).sum()
                    volume[k, r, c] += pairs - part.sum() ** 2 / cell**2
    return volume


def raised_contrast(volume, reached):
    """Return the sum over cells of what is above the contrast that is reached."""
    return np.maximum(volume - reached, 0.0).sum(axis=1, dtype=np.float64)
