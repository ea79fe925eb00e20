"""Contrast of the cells of a window at many displacements."""

import numpy as np

from evcrisp.kernels.compile import accumulating, fused

_ZERO = np.float32(0.0)


#: Votes of a pixel fit into 16 bits if the events are at most as many.
_FEW_EVENTS = 65_535


@fused
def contrast_volume(x, y, tau, p, shifts, margin, scale, cell, volume):
    """Count the pairs of events that meet, per cell and displacement, above those of chance.

    Events vote for one pixel of a coarse map per polarity. Of v votes in a pixel, v^2 - v are pairs;
    votes spread evenly over the cell would give (sum of v)^2 / pixels.

    x, y : (n,) float32, px      tau : (n,) float32, time in windows since the middle
    p : (n,) uint8      shifts : (k, 2) float32, px per window
    margin : float, px around the sensor      scale : float, px of the sensor per pixel of the map
    cell : int64, side of a cell in pixels of the map, a power of two
    volume : (k, rows, columns) float32, filled
    """
    to_map, start = np.float32(1.0 / scale), np.float32(margin / scale)
    across, down = np.empty(x.size, np.float32), np.empty(x.size, np.float32)
    for i in range(x.size):
        across[i] = x[i] * to_map + start
        down[i] = y[i] * to_map + start
    # One pixel more, for votes outside.
    n_pixels = 2 * volume.shape[1] * volume.shape[2] * cell * cell + 1
    if x.size <= _FEW_EVENTS:
        _fill(across, down, tau, p, shifts, to_map, cell, np.empty(n_pixels, np.uint16), volume)
    else:
        _fill(across, down, tau, p, shifts, to_map, cell, np.empty(n_pixels, np.uint32), volume)


@fused
def _fill(across, down, tau, p, shifts, to_map, cell, votes, volume):
    """Fill the volume; ``votes`` has the pixels of a cell side by side, and cells row by row."""
    n_shifts, rows, columns = volume.shape
    n_cells, area, bits = rows * columns, cell * cell, 0
    while (1 << bits) < cell:
        bits += 1
    pixel = np.empty(across.size, np.int32)
    one = votes.dtype.type(1)
    for k in range(n_shifts):
        _locate(
            across, down, tau, p, shifts[k, 0] * to_map, shifts[k, 1] * to_map, np.int32(rows),
            np.int32(columns), np.int32(bits), pixel,
        )  # fmt: skip
        votes[:] = 0
        for i in range(pixel.size):
            votes[np.uint32(pixel[i])] += one
        out = volume[k].reshape(-1)
        for c in range(n_cells):
            off, on = c * area, (n_cells + c) * area
            out[c] = _pairs_above_chance(votes[off : off + area])
            out[c] += _pairs_above_chance(votes[on : on + area])


@fused
def _locate(across, down, tau, p, shift_x, shift_y, rows, columns, bits, pixel):
    """Fill the pixel of each event on the maps of both polarities; a loop that vectorizes."""
    last_x, last_y = np.float32(columns << bits), np.float32(rows << bits)
    inner, outside = (np.int32(1) << bits) - np.int32(1), (rows * columns) << (bits + bits + 1)
    for i in range(pixel.size):
        u, v = across[i] - shift_x * tau[i], down[i] - shift_y * tau[i]
        inside = (u >= _ZERO) & (u < last_x) & (v >= _ZERO) & (v < last_y)
        column, row = np.int32(u), np.int32(v)
        at = (np.int32(p[i]) * rows + (row >> bits)) * columns + (column >> bits)
        at = (((at << bits) + (row & inner)) << bits) + (column & inner)
        pixel[i] = at if inside else outside


@accumulating
def _pairs_above_chance(votes):
    """Return the pairs of votes of a cell above those of evenly spread votes."""
    total = square = _ZERO
    for i in range(votes.size):
        value = np.float32(votes[i])
        total += value
        square += value * value
    return square - total - total * total / np.float32(votes.size)


@accumulating
def raised_contrast(volume, reached, out):
    """Sum over the cells how far each displacement raises the contrast that is reached already.

    volume : (k, n_cells) float32      reached : (n_cells,) float32      out : (k,) float32, filled
    """
    for k in range(volume.shape[0]):
        total = _ZERO
        for i in range(reached.size):
            total += max(volume[k, i] - reached[i], _ZERO)
        out[k] = total
