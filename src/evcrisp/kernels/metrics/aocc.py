"""Contrast of binary frames for many window durations, in one pass over the events.

One surface with the time of the last event per pixel is enough: at the end of a window, the pixels
that fired in it are those whose last event is not older than its start.
"""

import math

import numpy as np

from evcrisp.kernels.compile import njit, summing

#: Time of the last event of a pixel without events, us; below any real time.
NEVER = -(2**62)

# Weights of the blur in 256ths: a Gaussian with sigma 2. The rounding error of each outer weight is
# carried to the next one, and the middle weight makes the sum exact. All sums are integers below
# 2^24, hence exact in single precision, which vectorizes better.
_OUTER, _INNER, _MIDDLE = np.float32(39), np.float32(57), np.float32(64)
_WHITE, _HALF, _UNIT = np.float32(255), np.float32(32768), np.float32(1 / 65536)
_TWO = np.float32(2)


@njit
def add_events(x, y, t, surface, windows, rows, columns, work, frames):
    """Add events, and the contrast of every window that ends.

    x, y : (n,) uint16      t : (n,) int64 us, since the first event of the stream
    surface : (h, w) int64 us, last event per pixel or NEVER
    windows : (m, 2) int64 us, duration and end of the current window per duration
    rows : (h + 4,) and columns : (w + 4,) int64, reflected pixel for each index -2 to size + 1
    work : (9, w + 4) float32, overwritten
    frames : (m, 2) float64, sum of contrasts and number of windows with events; added to
    """
    if t.size == 0:
        return
    nearest = windows[:, 1].min()
    for k in range(t.size):
        if t[k] >= nearest:
            end_windows(t[k], surface, windows, rows, columns, work, frames)
            nearest = windows[:, 1].min()
        surface[y[k], x[k]] = t[k]


@njit
def end_windows(now, surface, windows, rows, columns, work, frames):
    """Add the contrast of windows that end by ``now``, and start those that contain ``now``."""
    newest = surface.max()
    for j in range(windows.shape[0]):
        length, end = windows[j, 0], windows[j, 1]
        if now < end:
            continue
        if newest >= end - length:
            frames[j, 0] += contrast(surface, end - length, rows, columns, work)
            frames[j, 1] += 1.0
        windows[j, 1] = (now // length + 1) * length


@njit
def contrast(surface, start, rows, columns, work):
    """Return the standard deviation of the gradient magnitude of a blurred binary frame.

    Pixels with events since ``start`` are 255, others 0. The blur is 5 x 5 in fixed point, rounded
    to integers; the gradient is that of Sobel, not normalized.
    """
    height, width = surface.shape
    across, blurred, padded = work[:5], work[5:8], work[8]  # ring buffers of rows, and one row
    total = squares = 0.0
    for i in range(height + 3):
        if i < height:
            _mark(surface[i], start, padded[2:])
            _reflect(padded, columns)
            _blur_across(padded, across[i % 5, :width])
        r = i - 2
        if 0 <= r < height:
            first, last = across[rows[r] % 5], across[rows[r + 4] % 5]
            above, below = across[rows[r + 1] % 5], across[rows[r + 3] % 5]
            out = blurred[r % 3]
            _blur_down(first, last, above, below, across[r % 5], out[2:-2])
            _reflect(out, columns)
        r = i - 3
        if r >= 0:
            above, below = blurred[rows[r + 1] % 3], blurred[rows[r + 3] % 3]
            sums = _sum_slopes(above[1:], blurred[r % 3, 1:], below[1:], width)
            total += sums[0]
            squares += sums[1]
    mean = total / surface.size
    return math.sqrt(max(squares / surface.size - mean * mean, 0.0))


@njit
def _mark(times, start, out):
    for c in range(times.size):
        out[c] = _WHITE if times[c] >= start else np.float32(0)


@njit
def _reflect(padded, columns):
    """Fill two pixels on either side by reflection; pixel c is at c + 2."""
    last = padded.size - 1
    padded[0] = padded[columns[0] + 2]
    padded[1] = padded[columns[1] + 2]
    padded[last - 1] = padded[columns[last - 1] + 2]
    padded[last] = padded[columns[last] + 2]


@njit
def _blur_across(padded, out):
    for c in range(out.size):
        out[c] = (
            _OUTER * (padded[c] + padded[c + 4])
            + _INNER * (padded[c + 1] + padded[c + 3])
            + _MIDDLE * padded[c + 2]
        )


@njit
def _blur_down(first, last, above, below, row, out):
    for c in range(out.size):
        total = _OUTER * (first[c] + last[c]) + _INNER * (above[c] + below[c]) + _MIDDLE * row[c]
        out[c] = np.floor((total + _HALF) * _UNIT)


@summing
def _sum_slopes(above, row, below, width):
    """Sum of the gradient magnitudes and of their squares; pixel c is at c + 1."""
    total = squares = 0.0
    for c in range(width):
        step_x = (above[c + 2] - above[c]) + (below[c + 2] - below[c])
        step_x += _TWO * (row[c + 2] - row[c])
        step_y = (below[c] - above[c]) + (below[c + 2] - above[c + 2])
        step_y += _TWO * (below[c + 1] - above[c + 1])
        square = np.float64(step_x * step_x + step_y * step_y)
        squares += square
        total += math.sqrt(square)
    return total, squares
