"""Oracle of the structure tensor: a sum over all pixels."""

import numpy as np


def structure_tensor(image, tile, lead, along_x, along_y):
    """Return the projected tensor, the sum of squared differences, and that of squared pixels."""
    along = np.stack((along_x, along_y))
    tensor, energy = np.zeros((along.shape[-1],) * 2), 0.0
    for r in range(image.shape[0] - 1):
        for c in range(image.shape[1] - 1):
            (a, b), (d, e) = image[r : r + 2, c : c + 2]
            cross = 0.25 * ((b - a) + (e - d)) * ((d - a) + (e - b))
            across = 0.5 * ((b - a) ** 2 + (e - d) ** 2)
            down = 0.5 * ((d - a) ** 2 + (e - b) ** 2)
            local = np.array([[across, cross], [cross, down]])
            moved = along[:, (r + lead[0]) // tile, (c + lead[1]) // tile]
            tensor += moved.T @ local @ moved
            energy += np.trace(local)
    return tensor, energy, (image[:-1, :-1] ** 2).sum()
