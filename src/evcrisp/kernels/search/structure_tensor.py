"""Structure tensor of an image, projected on displacements per motion parameter."""

import numpy as np

from evcrisp.kernels.compile import accumulating


@accumulating
def structure_tensor(image, tile, lead, along_x, along_y, tensor):
    """Sum (slope along displacement i) times (slope along displacement j) over all pixels.

    Slopes are differences between neighboring pixels, per pixel of the map.

    image : (h, w) floats      tile : side of the tiles of constant displacement, px of the map
    lead : (2,) int64, rows and columns of the first tiles above and left of the map, below tile
    along_x, along_y : (n_down, n_across, m) float64, displacement of each tile; they cover the map
    tensor : (m, m) float64, filled
    Returns the sum of squared differences along both axes, and the sum of squared pixels. The outer
    rows and columns, which are empty on a map with a margin, count half, or for differences only.
    """
    height, width = image.shape
    rows = np.empty((4, width - 1))
    energy = square = 0.0
    tensor[:] = 0.0
    for i in range(along_x.shape[0]):
        rows[:] = 0.0
        first, stop = i * tile - lead[0], (i + 1) * tile - lead[0]
        for row in range(max(first, 0), min(stop, height - 1)):
            _add_row(image[row], image[row + 1], rows[0], rows[1], rows[2], rows[3])
        for j in range(along_x.shape[1]):
            across = both = down = 0.0
            first, stop = j * tile - lead[1], (j + 1) * tile - lead[1]
            for c in range(max(first, 0), min(stop, width - 1)):
                across += rows[0, c]
                both += rows[1, c]
                down += rows[2, c]
                square += rows[3, c]
            energy += across + down
            for k in range(tensor.shape[0]):
                to_x = across * along_x[i, j, k] + both * along_y[i, j, k]
                to_y = both * along_x[i, j, k] + down * along_y[i, j, k]
                for other in range(k + 1):
                    tensor[k, other] += to_x * along_x[i, j, other] + to_y * along_y[i, j, other]
    for k in range(tensor.shape[0]):
        for other in range(k):
            tensor[other, k] = tensor[k, other]
    return energy, square


@accumulating
def _add_row(above, below, across, both, down, square):
    """Add the products at every pixel between two rows; a separate loop, for vectorization."""
    for c in range(across.size):
        upper, lower = above[c + 1] - above[c], below[c + 1] - below[c]
        left, right = below[c] - above[c], below[c + 1] - above[c + 1]
        # Both differences of each direction: a mirrored image has the same products.
        across[c] += 0.5 * (upper * upper + lower * lower)
        both[c] += 0.25 * (upper + lower) * (left + right)
        down[c] += 0.5 * (left * left + right * right)
        square[c] += above[c] * above[c]
