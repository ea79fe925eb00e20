"""Encode columns as EVT 3.0 and EVT 2.0 words.

TIME_HIGH never steps by more than half its range, and starts over only from all ones to zero,
because readers disagree about larger steps.
"""

import numpy as np

from evcrisp.kernels.compile import njit
from evcrisp.kernels.io.bits import count_bits, lowest_bit

#: Fields of the state: the last TIME_HIGH with its loops, TIME_LOW and row; the group of 32 pixels
#: and polarity that can continue the last vector.
HIGH, LOW, ROW, FOLLOWING = range(4)
#: The pending run of events: time, row, group and polarity, one bit per pixel.
RUN_TIME, RUN_ROW, RUN_HEAD, RUN_MASK = range(4, 8)
#: State of a new stream: no word is written, no run is pending.
START = (-1, -1, -1, -1, 0, 0, 0, 0)
#: Limit of TIME_HIGH words per loop of the clock, besides those of events.
WORDS_PER_LOOP = 3
#: Limit of words for the pending run and the first TIME_HIGH.
RUN_WORDS = 40
#: A vector of 32 pixels takes four words, or three if it continues the last one.
_MIN_RUN = 5

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@njit
def _next_high(before, target, bits):
    """Return the next TIME_HIGH, with its loops, between two of them."""
    if before < 0:
        return target if target >> bits == 0 else 0
    last = (1 << bits) - 1
    half = 1 << (bits - 1)
    if before & last == last:
        return before + 1
    stop = before | (half - 1)
    if stop == before:
        stop += half
    return min(stop, target)


@njit
def encode_evt2(x, y, t, p, state, out):
    """Encode events as EVT 2.0 words; return the number of words.

    x, y : (n,) uint16      t : (n,) int64, us, 0 or more      p : (n,) bool
    state : (8,) int64, updated in place
    out : (m,) uint32, m = 2 n + `WORDS_PER_LOOP` per loop of the clock + `RUN_WORDS`
    """
    high = state[HIGH]
    k = 0
    for i in range(t.size):
        target = t[i] >> 6
        while high != target:
            high = _next_high(high, target, 28)
            out[k] = (0x8 << 28) | (high & 0xFFFFFFF)
            k += 1
        out[k] = (np.int64(p[i]) << 28) | ((t[i] & 0x3F) << 22) | (np.int64(x[i]) << 11) | y[i]
        k += 1
    state[HIGH] = high
    return k


@njit
def encode_evt3(x, y, t, p, width, is_end, state, out):
    """Encode events as EVT 3.0 words, runs in a row as vectors; return the number of words.

    x, y : (n,) uint16      t : (n,) int64, us, 0 or more      p : (n,) bool
    width : int, of the sensor, px
    is_end : bool, whether these are the last events; otherwise the last run stays pending
    state : (8,) int64, updated in place
    out : (m,) uint16, m = 4 n + `WORDS_PER_LOOP` per loop of the clock + `RUN_WORDS`
    Vectors are whole groups of 12 + 12 + 8 pixels on the sensor, from multiples of 32: the
    vendor's decoder supports no others.
    """
    high, low, row, following = state[HIGH], state[LOW], state[ROW], state[FOLLOWING]
    time, y_run, head = state[RUN_TIME], state[RUN_ROW], state[RUN_HEAD]
    mask = np.uint64(state[RUN_MASK])
    k = 0
    for i in range(t.size + is_end):
        bit, here = _ZERO, np.int64(0)
        if i < t.size:
            bit = _ONE << np.uint64(x[i] & 31)
            here = (np.int64(x[i]) & ~31) | (np.int64(p[i]) << 11)
            # A bit above the mask is a larger x: a run has the order of its bits.
            if bit > mask > 0 and here == head and y[i] == y_run and t[i] == time:
                mask |= bit
                continue
        if mask:
            if high != time >> 12:
                low = -1
            while high != time >> 12:
                high = _next_high(high, time >> 12, 12)
                out[k] = 0x8000 | (high & 0xFFF)
                k += 1
            if low != time & 0xFFF:
                low = time & 0xFFF
                out[k] = 0x6000 | low
                k += 1
                following = -1
            if row != y_run:
                row = y_run
                out[k] = row
                k += 1
                following = -1
            n_needed = _MIN_RUN - (following == head)
            if (head & 0x7FF) + 32 <= width and count_bits(np.int64(mask)) >= n_needed:
                if following != head:
                    out[k] = 0x3000 | head
                    k += 1
                vector = np.int64(mask)
                out[k] = 0x4000 | (vector & 0xFFF)
                out[k + 1] = 0x4000 | ((vector >> 12) & 0xFFF)
                out[k + 2] = 0x5000 | (vector >> 24)
                k += 3
                following = head + 32
                mask = _ZERO
            else:
                following = -1
            while mask:
                out[k] = 0x2000 | head | np.int64(lowest_bit(mask))
                k += 1
                mask &= mask - _ONE
        if i < t.size:
            time, y_run, head, mask = t[i], np.int64(y[i]), here, bit
    state[HIGH], state[LOW], state[ROW], state[FOLLOWING] = high, low, row, following
    state[RUN_TIME], state[RUN_ROW], state[RUN_HEAD] = time, y_run, head
    state[RUN_MASK] = np.int64(mask)
    return k


@njit
def encode_evt2_triggers(t, value, state, out):
    """Encode triggers as EVT 2.0 words; return the number of words.

    t : (n,) int64, us, 0 or more      value : (n,) int64, channel << 8 | level
    state, out : as for `encode_evt2`
    """
    high = state[HIGH]
    k = 0
    for i in range(t.size):
        while high != t[i] >> 6:
            high = _next_high(high, t[i] >> 6, 28)
            out[k] = (0x8 << 28) | (high & 0xFFFFFFF)
            k += 1
        out[k] = (0xA << 28) | ((t[i] & 0x3F) << 22) | value[i]
        k += 1
    state[HIGH] = high
    return k


@njit
def encode_evt3_triggers(t, value, state, out):
    """Encode triggers as EVT 3.0 words; return the number of words. No run may be pending.

    t : (n,) int64, us, 0 or more      value : (n,) int64, channel << 8 | level
    state, out : as for `encode_evt3`
    """
    high, low = state[HIGH], state[LOW]
    k = 0
    for i in range(t.size):
        if high != t[i] >> 12:
            low = -1
        while high != t[i] >> 12:
            high = _next_high(high, t[i] >> 12, 12)
            out[k] = 0x8000 | (high & 0xFFF)
            k += 1
        if low != t[i] & 0xFFF:
            low = t[i] & 0xFFF
            out[k] = 0x6000 | low
            k += 1
        out[k] = 0xA000 | value[i]
        k += 1
    state[HIGH], state[LOW], state[FOLLOWING] = high, low, -1
    return k
