"""Slow and obvious versions of the kernels of the misfit."""

import numpy as np
from tests.oracles.layers.affine_fit import images


def map_of(scale, margin, shape):
    """Return the pixel at (0, 0) along both axes, and the shape of the map."""
    start = margin / scale + 1.5
    return (start, start), tuple(int((side + 2.0 * margin) / scale) + 4 for side in shape)


def cell_at(x, y, cell_px):
    """Return row and column of the cell; places before the sensor are in the first."""
    return int(max(y, 0.0) // cell_px), int(max(x, 0.0) // cell_px)


def pulls(x, y, tau, p, scale, margin, shape, cell_px, cells, step=1e-4):
    """Return the gradient of the contrast by the displacement of the events of each cell."""
    shift, size = map_of(scale, margin, shape)
    of_event = np.array([cell_at(*at, cell_px) for at in zip(x, y, strict=True)]).reshape(-1, 2)
    out = np.zeros((*cells, 2))
    for r, c in np.ndindex(cells):
        mine = tau * (of_event == (r, c)).all(axis=1)
        for axis in range(2):
            contrast = []
            for sign in (1, -1):
                moved = np.stack((x, y))
                moved[axis] -= sign * step * mine
                contrast.append((images(*moved, p, scale, shift, size) ** 2).sum())
            out[r, c, axis] = (contrast[0] - contrast[1]) / (2 * step)
    return out


def tensors(x, y, p, scale, margin, shape, cell_px, cells):
    """Return the sums of the products of slopes over the pixels of each cell, times 1/6."""
    shift, size = map_of(scale, margin, shape)
    out = np.zeros((*cells, 3))
    for image in images(x, y, p, scale, shift, size):
        for i in range(1, size[0] - 1):
            for j in range(1, size[1] - 1):
                r, c = cell_at((j - shift[0]) * scale, (i - shift[1]) * scale, cell_px)
                if r < cells[0] and c < cells[1]:
                    across = (image[i, j + 1] - image[i, j - 1]) / (2 * scale)
                    down = (image[i + 1, j] - image[i - 1, j]) / (2 * scale)
                    out[r, c] += np.array([across**2, across * down, down**2]) / 6
    return out


def count_noise(x, y, signal, cell_px, shape):
    """Return the number of events that are not signal in each cell."""
    counts = np.zeros(shape, int)
    for at_x, at_y, is_signal in zip(x, y, signal, strict=True):
        counts[int(at_y) // cell_px, int(at_x) // cell_px] += not is_signal
    return counts
