"""Columns to EVT 3.0 and EVT 2.0 words.

TIME_HIGH never jumps by more than half its range and starts over only by the step from all ones to
zero, because readers differ in which larger steps they take for a new loop.
"""

import numpy as np

from evcrisp.kernels import njit

#: Fields of the state: TIME_HIGH with its loops, TIME_LOW, and row that were written last.
HIGH, LOW, ROW = range(3)
#: What a new stream starts with: nothing was written.
START = (-1, -1, -1, 0)
#: TIME_HIGH words per loop of the clock at most, beside those that events cause.
WORDS_PER_LOOP = 3
#: A vector of 32 pixels takes four words, or three where it continues the one before.
_MIN_RUN = 5


@njit
def _next_high(before, target, bits):
    """Return the next TIME_HIGH, with its loops, on the way from one to another."""
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
    """Write events as EVT 2.0 words; return how many words that took.

    x, y : (n,) uint16      t : (n,) int64, us, 0 or more      p : (n,) bool
    state : (4,) int64, updated in place
    out : (m,) uint32, with 2 n and `WORDS_PER_LOOP` for each loop of the clock, and two more
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
def _run_end(x, y, t, p, i):
    """Return the end of the run of events that start at i and fit one vector, in their order."""
    end = i + 1
    while (
        end < t.size
        and t[end] == t[i]
        and y[end] == y[i]
        and p[end] == p[i]
        and x[end] > x[end - 1]
        and x[end] >> 5 == x[i] >> 5
    ):
        end += 1
    return end


@njit
def encode_evt3(x, y, t, p, width, state, out):
    """Write events as EVT 3.0 words, runs of a row as vectors; return how many words that took.

    x, y : (n,) uint16      t : (n,) int64, us, 0 or more      p : (n,) bool
    width : int, of the sensor, px
    state : (4,) int64, updated in place
    out : (m,) uint16, with 4 n and `WORDS_PER_LOOP` for each loop of the clock, and two more
    Vectors are whole groups of 12 + 12 + 8 pixels inside the sensor, from multiples of 32 on: the
    vendor's decoder knows no other.
    """
    high, low, row = state[HIGH], state[LOW], state[ROW]
    base = -1  # where a vector that just ended goes on, and its polarity
    k = 0
    i = 0
    while i < t.size:
        target = t[i] >> 12
        if high != target:
            low = -1
        while high != target:
            high = _next_high(high, target, 12)
            out[k] = 0x8000 | (high & 0xFFF)
            k += 1
        if low != t[i] & 0xFFF:
            low = t[i] & 0xFFF
            out[k] = 0x6000 | low
            k += 1
            base = -1
        if row != y[i]:
            row = np.int64(y[i])
            out[k] = row
            k += 1
            base = -1
        end = _run_end(x, y, t, p, i)
        start = np.int64(x[i]) & ~31
        head = start | (np.int64(p[i]) << 11)
        if start + 32 <= width and end - i >= _MIN_RUN - (base == head):
            if base != head:
                out[k] = 0x3000 | head
                k += 1
            mask = 0
            for j in range(i, end):
                mask |= 1 << (np.int64(x[j]) - start)
            out[k] = 0x4000 | (mask & 0xFFF)
            out[k + 1] = 0x4000 | ((mask >> 12) & 0xFFF)
            out[k + 2] = 0x5000 | (mask >> 24)
            k += 3
            base = head + 32
        else:
            for j in range(i, end):
                out[k] = 0x2000 | (np.int64(p[j]) << 11) | x[j]
                k += 1
            base = -1
        i = end
    state[HIGH], state[LOW], state[ROW] = high, low, row
    return k
