"""Decode the 16-bit words of the ROS encoding ``libcaer_cmp`` (compressed libcaer events).

A word has four bits of type and twelve of value. The types are time high (bits 12-23 of the time
since the packet's base), time low, column, row with polarity (one event), base row with polarity,
and vector of eight rows.
"""

import numpy as np

from evcrisp.kernels.compile import njit

#: The types; another one ends the decoding.
N_TYPES = 6
TIME_HIGH, TIME_LOW, ADDR_X, ADDR_Y, VECT_BASE_Y, VECT_8 = range(N_TYPES)

#: Fields of the state: time high, time low [us], column, base row, its polarity.
STATE_SIZE = 5


@njit
def count_libcaer(words):
    """Return the numbers of events, and of words, (n,) uint16, before an unknown one."""
    n_events = 0
    for i in range(words.size):
        word = np.int64(words[i])
        kind = word >> 12
        if kind >= N_TYPES:
            return n_events, i
        if kind == ADDR_Y:
            n_events += 1
        elif kind == VECT_8:
            bits = word & 0xFF
            while bits:
                n_events += bits & 1
                bits >>= 1
    return n_events, words.size


@njit
def decode_libcaer(words, t_base, state, x, y, t, p):
    """Decode words to columns and update ``state``.

    words : (n,) uint16, all of known type     t_base : int, us     state : (5,) int64
    x, y : (m,) uint16     t : (m,) int64, us     p : (m,) bool, with m from `count_libcaer`
    """
    time_high, time_low, column, base, polarity = state[0], state[1], state[2], state[3], state[4]
    n = 0
    for i in range(words.size):
        word = np.int64(words[i])
        kind = word >> 12
        if kind == ADDR_Y:
            x[n] = column
            y[n] = word & 0x7FF
            t[n] = t_base + time_high + time_low
            p[n] = (word >> 11) & 1
            n += 1
        elif kind == ADDR_X:
            column = word & 0x7FF
        elif kind == TIME_LOW:
            time_low = word & 0xFFF
        elif kind == TIME_HIGH:
            time_high = (word & 0xFFF) << 12
        elif kind == VECT_BASE_Y:
            base = word & 0x7FF
            polarity = (word >> 11) & 1
        else:
            bits = word & 0xFF
            row = base
            while bits:
                if bits & 1:
                    x[n] = column
                    y[n] = row
                    t[n] = t_base + time_high + time_low
                    p[n] = polarity
                    n += 1
                bits >>= 1
                row += 1
            base += 8
    state[0], state[1], state[2], state[3], state[4] = time_high, time_low, column, base, polarity
