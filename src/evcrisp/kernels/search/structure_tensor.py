"""Structure tensor of an image, projected on displacements per motion parameter."""

import numpy as np

from evcrisp.kernels.compile import accumulating


@accumulating
def structure_tensor(image, tile, along_x, along_y, tensor):
    """Sum (slope along displacement i) times (slope along displacement j) over all pixels.

    Slopes are differences between neighboring pixels, per pixel of the map.

    image : (h, w) floats      tile : side of the tiles of constant displacement, px of the map
    along_x, along_y : (n_down, n_across, m) float64, displacement of each tile; they cover the map
    tensor : (m, m) float64, filled
    Returns the sum of squared differences along both axes, and the sum of squared pixels. The last
    row and column, which are empty on a map with a margin, count for differences only.
    """
    height, width = image.shape
    rows = np.empty((4, width - 1))
    energy = square = 0.0
    tensor[:] = 0.0
    for i in range(along_x.shape[0]):
        rows[:] = 0.0
        for row in range(i * tile, min((i + 1) * tile, height - 1)):
            _add_row(image[row], image[row + 1], rows[0], rows[1], rows[2], rows[3])
        for j in range(along_x.shape[1]):
            across = both = down = 0.0
            for c in range(j * tile, min((j + 1) * tile, width - 1)):
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
        across[c] += upper * upper
        both[c] += 0.25 * (upper + lower) * (left + right)
        down[c] += left * left
        square[c] += above[c] * above[c]
