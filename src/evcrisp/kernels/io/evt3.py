"""Decode EVT 3.0, the 16-bit format of Prophesee.

A word is a type (4 bits) and a value (12 bits). The state of a stream is an int64 array, so that
words can come in pieces of any size.
"""

import numpy as np

from evcrisp.kernels.compile import njit
from evcrisp.kernels.io.bits import count_bits, lowest_bit

#: Fields of the state.
TIME, NOW, ROW, BASE, POLARITY, N_LOST, N_RESERVED = range(7)
#: State of a new stream: time, row and vector base are unknown.
START = (-1, -1, -1, -1, 0, 0, 0, 0)
#: Additional elements of the columns, beyond the number of events.
SLACK = 16

ADDR_Y, ADDR_X, VECT_BASE_X, VECT_12, VECT_8 = 0x0, 0x2, 0x3, 0x4, 0x5
TIME_LOW, CONTINUED_4, TIME_HIGH, EXT_TRIGGER = 0x6, 0x7, 0x8, 0xA
OTHERS, CONTINUED_12 = 0xE, 0xF
#: One bit per type: types decoded without a branch, and documented types.
PLAIN = 1 << ADDR_Y | 1 << ADDR_X | 1 << TIME_LOW
DOCUMENTED = 0xC5FD
#: A step of TIME_HIGH back by this or more is a loop of the clock.
HALF_LOOP = 1 << 11

_ONE, _TWO = np.uint64(1), np.uint64(2)
_EACH = np.uint64(0x0001_0001_0001_0001)


@njit
def _count_in_four(words, i):
    """Return the numbers of events and triggers in the four words from i."""
    # One number holds all four words: nearly twice as fast as one by one.
    four = np.uint64(words[i]) | (np.uint64(words[i + 1]) << np.uint64(16))
    four |= (np.uint64(words[i + 2]) << np.uint64(32)) | (np.uint64(words[i + 3]) << np.uint64(48))
    kinds = (four >> np.uint64(12)) & (_EACH * np.uint64(0xF))
    masks = _equal(kinds, VECT_12) * np.uint64(0xFFF) | _equal(kinds, VECT_8) * np.uint64(0xFF)
    # An ADDR_X counts as one bit, outside all masks.
    bits = (four & masks) | (_equal(kinds, ADDR_X) << np.uint64(15))
    bits -= (bits >> np.uint64(1)) & (_EACH * np.uint64(0x5555))
    bits = (bits & (_EACH * np.uint64(0x3333))) + ((bits >> _TWO) & (_EACH * np.uint64(0x3333)))
    bits = (bits + (bits >> np.uint64(4))) & (_EACH * np.uint64(0x0F0F))
    return _sum(bits + (bits >> np.uint64(8))), _sum(_equal(kinds, EXT_TRIGGER))


@njit
def _sum(lanes):
    """Return the sum of the lowest byte of each 16 bits."""
    lanes += lanes >> np.uint64(32)
    return np.int64((lanes + (lanes >> np.uint64(16))) & np.uint64(0xFF))


@njit
def _equal(kinds, kind):
    """Return 1 in each 16 bits that hold a type, and 0 in the others."""
    differs = (kinds ^ (_EACH * np.uint64(kind))) + _EACH * np.uint64(0xF)
    return _EACH - ((differs >> np.uint64(4)) & _EACH)


@njit
def count_evt3(words):
    """Return upper bounds of the numbers of events and triggers in words, (n,) uint16."""
    n_events = 0
    n_triggers = 0
    n_whole = words.size - words.size % 4
    for i in range(0, n_whole, 4):
        events, triggers = _count_in_four(words, i)
        n_events += events
        n_triggers += triggers
    for i in range(n_whole, words.size):
        kind = np.int64(words[i]) >> 12
        mask = 0xFFF if kind == VECT_12 else 0xFF if kind == VECT_8 else 0
        n_events += count_bits(np.int64(words[i]) & mask) + (kind == ADDR_X)
        n_triggers += kind == EXT_TRIGGER
    return n_events, n_triggers


@njit
def advanced_evt3(time, high):
    """Return the time of a TIME_HIGH word, us. ``time`` is that of the word before, or -1."""
    if time < 0:
        return high << 12
    before = (time >> 12) & 0xFFF
    return (((time >> 24) + (before >= high + HALF_LOOP)) << 24) | (high << 12)


@njit
def _start_evt3(words, state, trigger_t, trigger_word):
    """Decode until time and row are known; return the numbers of words and triggers."""
    n_triggers = 0
    for i in range(words.size):
        if state[TIME] >= 0 and state[ROW] >= 0:
            return i, n_triggers
        word = np.int64(words[i])
        kind = word >> 12
        value = word & 0xFFF
        if kind == TIME_HIGH:
            if state[TIME] < 0 or value != (state[TIME] >> 12) & 0xFFF:
                state[TIME] = advanced_evt3(state[TIME], value)
                state[NOW] = state[TIME]
        elif kind == TIME_LOW and state[TIME] >= 0:
            state[NOW] = state[TIME] | value
        elif kind == ADDR_Y:
            state[ROW] = value & 0x7FF
        elif kind == VECT_BASE_X:
            state[BASE] = value & 0x7FF
            state[POLARITY] = value >> 11
        elif kind in (VECT_12, VECT_8):
            state[N_LOST] += count_bits(value if kind == VECT_12 else value & 0xFF)
            state[BASE] += 0 if state[BASE] < 0 else 12 if kind == VECT_12 else 8
        elif kind == EXT_TRIGGER and state[TIME] >= 0:
            trigger_t[n_triggers] = state[NOW]
            trigger_word[n_triggers] = value
            n_triggers += 1
        elif kind in (ADDR_X, EXT_TRIGGER):
            state[N_LOST] += 1
        elif not (DOCUMENTED >> kind) & 1:
            state[N_RESERVED] += 1
    return words.size, n_triggers


@njit
def _is_rest_of_32(words, i):
    """Return whether VECT_12 and VECT_8 follow: sensors send vectors of 12 + 12 + 8 pixels."""
    return i + 1 < words.size and words[i] >> 12 == VECT_12 and words[i + 1] >> 12 == VECT_8


@njit
def decode_evt3(words, state, x, y, t, p, trigger_t, trigger_word):
    """Decode words to columns; return the numbers of events and triggers.

    words : (n,) uint16                   state : (8,) int64, updated in place
    x, y : (m,) uint16                    t : (m,) int64, us         p : (m,) bool
    trigger_t : (k,) int64, us            trigger_word : (k,) uint32
    m and k from `count_evt3`, m plus `SLACK`. Events before the first TIME_HIGH and ADDR_Y, and
    vectors before the first VECT_BASE_X, are counted in ``state[N_LOST]``.
    """
    i, n_triggers = _start_evt3(words, state, trigger_t, trigger_word)
    time, now, row = state[TIME], state[NOW], np.uint16(state[ROW])
    has_base, base = state[BASE] >= 0, np.uint64(state[BASE] & 0xFFFF)
    polarity = state[POLARITY] != 0
    n = 0
    while i < words.size:
        word = words[i]
        kind = word >> 12
        value = word & 0xFFF
        i += 1
        if (PLAIN >> kind) & 1:
            # The order of the common words is random. Writing without a branch, and keeping or
            # overwriting the result, is twice as fast as testing the type.
            x[n] = value & 0x7FF
            y[n] = row
            t[n] = now
            p[n] = value > 0x7FF
            n += kind == ADDR_X
            row = np.uint16(value & 0x7FF) if kind == ADDR_Y else row
            now = time | value if kind == TIME_LOW else now
        elif kind == VECT_BASE_X:
            base, has_base, polarity = np.uint64(value & 0x7FF), True, value > 0x7FF
        elif kind in (VECT_12, VECT_8):
            width = 12 if kind == VECT_12 else 8
            mask = np.uint64(value & ((1 << width) - 1))
            if kind == VECT_12 and _is_rest_of_32(words, i):
                second, third = np.uint64(words[i] & 0xFFF), np.uint64(words[i + 1] & 0xFF)
                mask |= (second << np.uint64(12)) | (third << np.uint64(24))
                width = 32
                i += 2
            if not has_base:
                state[N_LOST] += count_bits(np.int64(mask))
                continue
            while mask:
                x[n] = base + lowest_bit(mask)
                y[n] = row
                t[n] = now
                p[n] = polarity
                n += 1
                mask &= mask - _ONE
            base = (base + np.uint64(width)) & np.uint64(0xFFFF)
        elif kind == TIME_HIGH:
            if value != (time >> 12) & 0xFFF:
                time = advanced_evt3(time, np.int64(value))
                now = time
        elif kind == EXT_TRIGGER:
            trigger_t[n_triggers] = now
            trigger_word[n_triggers] = value
            n_triggers += 1
        elif not (DOCUMENTED >> kind) & 1:
            state[N_RESERVED] += 1
    if state[TIME] >= 0 and state[ROW] >= 0:
        state[TIME], state[NOW], state[ROW] = time, now, row
        state[BASE] = np.int64(base) if has_base else -1
        state[POLARITY] = polarity
    return n, n_triggers
