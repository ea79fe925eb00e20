"""Draw video frames: count events, convert counts to palette indices and these to colors."""

from evcrisp.kernels.compile import njit


@njit
def count_dots(x, y, kind, keep, first, second):
    """Count the events of both kinds at their pixels, up to 255.

    x, y : (n,) uint16      kind : (n,) bool, True counts in `first`      keep : (n,) bool, False: not counted
    first, second : (h, w) uint8, added to
    """
    for k in range(x.size):
        if not keep[k]:
            continue
        row, column = int(y[k]), int(x[k])
        if kind[k]:
            if first[row, column] < 255:
                first[row, column] += 1
        elif second[row, column] < 255:
            second[row, column] += 1


@njit
def count_rounded(x, y, kind, keep, first, second):
    """Count finite x, y : (n,) float64 inside at the nearest pixel; the rest as `count_dots`."""
    height, width = first.shape
    for k in range(x.size):
        if not (keep[k] and -0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        row, column = int(y[k] + 0.5), int(x[k] + 0.5)
        if kind[k]:
            if first[row, column] < 255:
                first[row, column] += 1
        elif second[row, column] < 255:
            second[row, column] += 1


@njit
def paint_counts(first, second, levels, n_levels, base, canvas, top, left):
    """Write the palette index of every pixel to the canvas, and reset the counts to zero.

    first, second : (h, w) uint8      levels : (256,) uint8, count -> 0..n_levels - 1
    canvas : (H, W) uint8; index = base + levels[first] * n_levels + levels[second]
    """
    height, width = first.shape
    for row in range(height):
        for column in range(width):
            index = levels[first[row, column]] * n_levels + levels[second[row, column]]
            canvas[top + row, left + column] = base + index
            first[row, column] = 0
            second[row, column] = 0


@njit
def fill_yuv(canvas, table, luma, chroma_u, chroma_v):
    """Convert palette indices to planes with color at half the resolution (4:2:0).

    canvas : (h, w) uint8, h and w even      table : (256, 3) uint8 of y, u, v
    luma : (h, w) uint8      chroma_u, chroma_v : (h / 2, w / 2) uint8; all filled
    """
    height, width = canvas.shape
    for row in range(0, height, 2):
        for column in range(0, width, 2):
            u = v = 2
            for r in range(row, row + 2):
                for c in range(column, column + 2):
                    index = canvas[r, c]
                    luma[r, c] = table[index, 0]
                    u += int(table[index, 1])
                    v += int(table[index, 2])
            chroma_u[row // 2, column // 2] = u // 4
            chroma_v[row // 2, column // 2] = v // 4
