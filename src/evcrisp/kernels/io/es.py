"""Event Stream (.es): one byte for time and polarity, four for the pixel, fillers for long gaps."""

import numpy as np

from evcrisp.kernels.compile import njit

#: Time step of the filler byte 0xff, us.
FILLER_US = 127


@njit
def decode_dvs(data, height, x, y, t, p, state):
    """Decode whole events, until the data or the room ends.

    data : (n,) uint8      x, y : (m,) uint16      t : (m,) int64      p : (m,) bool
    state : (3,) int64, in and out: byte, row, time of the last event.
    The file counts rows from the bottom.
    """
    i, row, now = state[0], state[1], state[2]
    while i < data.size and row < t.size:
        first = data[i]
        if first == 0xFF:
            now += FILLER_US
            i += 1
        elif first == 0xFE:  # a mark for readers that lost the beat; it holds nothing
            i += 1
        elif i + 5 > data.size:
            break
        else:
            now += first >> 1
            t[row] = now
            p[row] = first & 1
            x[row] = np.uint16(data[i + 1]) | np.uint16(data[i + 2]) << 8
            y[row] = height - 1 - (np.int64(data[i + 3]) | np.int64(data[i + 4]) << 8)
            i += 5
            row += 1
    state[0], state[1], state[2] = i, row, now


@njit
def encode_dvs(x, y, t, p, height, t_last, out):
    """Write events, and return how many bytes they take; fillers included.

    x, y : (n,) uint16      t : (n,) int64      p : (n,) bool      out : uint8, large enough
    """
    i = 0
    for row in range(t.size):
        gap = t[row] - t_last
        t_last = t[row]
        for _ in range(gap // FILLER_US):
            out[i] = 0xFF
            i += 1
        row_up = height - 1 - np.int64(y[row])
        out[i] = (gap % FILLER_US) << 1 | np.int64(p[row])
        out[i + 1] = x[row] & 0xFF
        out[i + 2] = x[row] >> 8
        out[i + 3] = row_up & 0xFF
        out[i + 4] = row_up >> 8
        i += 5
    return i
