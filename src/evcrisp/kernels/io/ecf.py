"""Decode ECF, the compression of events in the HDF5 files of Prophesee.

A block has at most 65,535 events, in little-endian numbers without alignment:

====================== =====================================================================
part                   content
====================== =====================================================================
head, 4 bytes          number of events << 2 | layout
origin, 8 bytes        time to which the steps are added, us
times                  bytes ``step << 4 | count``; count 15: two more bytes have it. Steps of 15
                       are four bits of a larger step each, lowest first, without events
layout 2: places       four events in three words of 32 bits: y << 12 | x << 1 | p, 24 bits each
layout 0 and 1: rows   16 bits ``y << 5 | count``; count 31: 16 more bits have it
layout 1: columns      four events in three words of 16 bits: x << 1 | p, 12 bits each
layout 0: columns      16 bits ``x << 5 | mask``: x, and x + 1 to x + 5 (highest bit first)
layout 0: polarities   bytes ``p << 7 | count``; count 127: two more bytes have it
====================== =====================================================================
"""

import numpy as np

from evcrisp.kernels.compile import njit

MAX_EVENTS = 65_535
HEAD_BYTES = 12
#: Layouts: columns and polarities apart, columns with polarities, places of events.
APART, COLUMNS, PLACES = range(3)
#: The columns need this many elements more than events: masks and groups can reach beyond the last.
SLACK = 5
#: Steps of more bits are damage.
_STEP_BITS = 64


@njit
def _u16(data, i):
    return np.int64(data[i]) | (np.int64(data[i + 1]) << 8)


@njit
def _u32(data, i):
    return _u16(data, i) | (_u16(data, i + 2) << 16)


@njit
def _decode_times(data, start, n, t):
    """Fill the times from their origin; return the byte after them, or -1."""
    now = _u32(data, start) | (_u32(data, start + 4) << 32)
    i, k, shift = start + 8, 0, 0
    while k < n:
        if i >= data.size:
            return -1
        step, count = np.int64(data[i] >> 4), np.int64(data[i] & 15)
        i += 1
        if step == 15:
            if shift >= _STEP_BITS:
                return -1
            now += count << shift
            shift += 4
            continue
        shift = 0
        now += step
        if count == 15:
            if i + 2 > data.size:
                return -1
            count = _u16(data, i)
            i += 2
        if k + count > n:
            return -1
        for j in range(k, k + count):
            t[j] = now
        k += count
    return i


@njit
def _decode_rows(data, start, n, y):
    """Fill the rows; return the byte after them, or -1."""
    i, k = start, 0
    while k < n:
        if i + 2 > data.size:
            return -1
        word = _u16(data, i)
        count = word & 31
        i += 2
        if count == 31:
            if i + 2 > data.size:
                return -1
            count = _u16(data, i)
            i += 2
        if k + count > n:
            return -1
        for j in range(k, k + count):
            y[j] = word >> 5
        k += count
    return i


@njit
def _decode_masks(data, start, n, x):
    """Fill the columns from masks; return the byte after them, or -1."""
    i, k = start, 0
    while k < n:
        if i + 2 > data.size:
            return -1
        word = _u16(data, i)
        i += 2
        x[k] = word >> 5
        k += 1
        for j in range(5):
            if (word >> (4 - j)) & 1:
                x[k] = (word >> 5) + j + 1
                k += 1
    return i


@njit
def _decode_polarities(data, start, n, p):
    """Fill the polarities; return the byte after them, or -1."""
    i, k = start, 0
    while k < n:
        if i >= data.size:
            return -1
        polarity, count = data[i] >> 7, np.int64(data[i] & 127)
        i += 1
        if count == 127:
            if i + 2 > data.size:
                return -1
            count = _u16(data, i)
            i += 2
        if k + count > n:
            return -1
        for j in range(k, k + count):
            p[j] = polarity
        k += count
    return i


@njit
def _decode_columns(data, start, n, x, p):
    """Fill columns and polarities, 12 bits per event; return the byte after them, or -1."""
    end = start + (n + 3) // 4 * 6
    if end > data.size:
        return -1
    for k in range(0, n, 4):
        i = start + k // 4 * 6
        bits = (_u16(data, i) << 32) | (_u16(data, i + 2) << 16) | _u16(data, i + 4)
        # The second and third number are split: their lower bits come first.
        second = ((bits >> 32) & 0xF) | (((bits >> 24) & 0xFF) << 4)
        third = ((bits >> 16) & 0xFF) | (((bits >> 12) & 0xF) << 8)
        for j, value in enumerate((bits >> 36, second, third, bits & 0xFFF)):
            x[k + j] = value >> 1
            p[k + j] = value & 1
    return end


@njit
def _decode_places(data, start, n, x, y, p):
    """Fill rows, columns and polarities, 24 bits per event; return the byte after them, or -1."""
    end = start + (n + 3) // 4 * 12
    if end > data.size:
        return -1
    for k in range(0, n, 4):
        i = start + k // 4 * 12
        a, b, c = _u32(data, i), _u32(data, i + 4), _u32(data, i + 8)
        second = (a & 0xFF) | ((b >> 16) << 8)
        third = (b & 0xFFFF) | ((c >> 24) << 16)
        for j, value in enumerate((a >> 8, second, third, c & 0xFFFFFF)):
            y[k + j] = (value >> 12) & 0x7FF
            x[k + j] = (value >> 1) & 0x7FF
            p[k + j] = value & 1
    return end


@njit
def count_ecf(data):
    """Return the number of events of a block, as stated; -1 if it is too short or too long."""
    if data.size < HEAD_BYTES:
        return -1
    n = _u32(data, 0) >> 2
    return n if n <= MAX_EVENTS else -1


@njit
def decode_ecf(data, x, y, t, p):
    """Decode a block to columns; return whether it is complete and consistent.

    data : (m,) uint8
    x, y : (k,) uint16      t : (k,) int64, us      p : (k,) bool
    k is the result of `count_ecf`, 0 or more, plus `SLACK`.
    """
    n = _u32(data, 0) >> 2
    layout = _u32(data, 0) & 3
    end = _decode_times(data, 4, n, t)
    if end < 0 or layout > PLACES:
        return False
    if layout == PLACES:
        return _decode_places(data, end, n, x, y, p) == data.size
    end = _decode_rows(data, end, n, y)
    if end < 0:
        return False
    if layout == COLUMNS:
        return _decode_columns(data, end, n, x, p) == data.size
    end = _decode_masks(data, end, n, x)
    return end >= 0 and _decode_polarities(data, end, n, p) == data.size
