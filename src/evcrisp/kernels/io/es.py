"""Decode and encode Event Stream: a byte of time and polarity, four of the pixel, and fillers."""

import numpy as np

from evcrisp.kernels.compile import njit

#: Time step of the filler byte 0xff, us.
FILLER_US = 127


@njit
def decode_dvs(data, height, x, y, t, p, state):
    """Decode whole events up to the end of the data or of the columns.

    data : (n,) uint8      x, y : (m,) uint16      t : (m,) int64      p : (m,) bool
    state : (3,) int64, updated in place: byte, index of the event, time of the last event.
    Rows of the file count from the bottom.
    """
    i, row, now = state[0], state[1], state[2]
    while i < data.size and row < t.size:
        first = data[i]
        if first == 0xFF:
            now += FILLER_US
            i += 1
        elif first == 0xFE:  # a synchronization mark without data
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
    """Encode events with fillers; return the number of bytes.

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
