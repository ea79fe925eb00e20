"""Separable symmetric filter of images, with zeros outside; it is its own adjoint."""

from evcrisp.kernels.compile import njit


@njit
def blur(image, taps, lines, out):
    """Filter rows and columns: out[r, c] = sum_ij taps[|i|] taps[|j|] image[r + i, c + j].

    image, out : (h, w) float64, may be the same      taps : (radius + 1,) float64, the center first
    lines : (2 radius + 2, w + 2 radius) float64, zeros: ring of filtered rows, a padded row
    """
    height, width = image.shape
    radius = taps.size - 1
    size = 2 * radius + 1
    padded = lines[size]
    for r in range(height + radius):
        ring = lines[r % size, :width]
        if r < height:
            padded[radius : radius + width] = image[r]
            _scale(image[r], taps[0], ring)
            for d in range(1, radius + 1):
                _add_pair(padded[radius - d :], padded[radius + d :], taps[d], ring)
        else:
            ring[:] = 0.0
        # Row r of the image is not read again, so out may be the image.
        done = r - radius
        if done < 0:
            continue
        _scale(lines[done % size], taps[0], out[done])
        for d in range(1, radius + 1):
            _add_pair(lines[(done - d) % size], lines[(done + d) % size], taps[d], out[done])


# The compiler vectorizes loops over rows only in separate functions (twice as fast).


@njit
def _scale(row, tap, out):
    for c in range(out.size):
        out[c] = tap * row[c]


@njit
def _add_pair(one, other, tap, out):
    for c in range(out.size):
        out[c] += tap * (one[c] + other[c])
