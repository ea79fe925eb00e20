"""How an image bends the sum of its squares when its content moves within a window."""

import numpy as np

from evcrisp.kernels.compile import accumulating


@accumulating
def structure_tensor(image, tile, along_x, along_y, bends):
    """Add up (slope along displacement i) times (slope along displacement j) over all pixels.

    Slopes are differences between neighboring pixels, per pixel of the map.

    image : (h, w) floats      tile : pixels along a side of the tiles in which displacements are even
    along_x, along_y : (n_down, n_across, m) float64, displacements of the tiles, with tiles for all pixels
    bends : (m, m) float64, filled
    Returns the sum of the squared differences along both axes, and that of the squared pixels. The last
    row and column, which are empty on a map with a margin, only serve for differences.
    """
    height, width = image.shape
    rows = np.empty((4, width - 1))
    steep = square = 0.0
    bends[:] = 0.0
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
            steep += across + down
            for k in range(bends.shape[0]):
                to_x = across * along_x[i, j, k] + both * along_y[i, j, k]
                to_y = both * along_x[i, j, k] + down * along_y[i, j, k]
                for other in range(k + 1):
                    bends[k, other] += to_x * along_x[i, j, other] + to_y * along_y[i, j, other]
    for k in range(bends.shape[0]):
        for other in range(k):
            bends[other, k] = bends[k, other]
    return steep, square


@accumulating
def _add_row(above, below, across, both, down, square):
    """Add the products at every place between two rows; a loop for many pixels at a time."""
    for c in range(across.size):
        upper, lower = above[c + 1] - above[c], below[c + 1] - below[c]
        left, right = below[c] - above[c], below[c + 1] - above[c + 1]
        across[c] += upper * upper
        both[c] += 0.25 * (upper + lower) * (left + right)
        down[c] += left * left
        square[c] += above[c] * above[c]
