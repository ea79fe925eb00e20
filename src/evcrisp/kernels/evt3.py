"""EVT 3.0, the 16-bit format of Prophesee: words in, columns out, state carried along.

Word = type (4 bits) and value (12 bits). The state of a stream is one int64 array, so that words
may come in pieces of any size.
"""

from evcrisp.kernels import njit

#: Fields of the state.
TIME, LOW, ROW, BASE, POLARITY, N_LOST, N_RESERVED = range(7)
STATE_SIZE = 8
#: What a new stream starts with: no time, no row and no vector base are known.
START = (-1, 0, -1, -1, 0, 0, 0, 0)
#: The columns need this many elements more than there are events.
SLACK = 16

ADDR_Y, ADDR_X, VECT_BASE_X, VECT_12, VECT_8 = 0x0, 0x2, 0x3, 0x4, 0x5
TIME_LOW, TIME_HIGH, EXT_TRIGGER = 0x6, 0x8, 0xA
CONTINUED_4, OTHERS, CONTINUED_12 = 0x7, 0xE, 0xF


@njit
def count_evt3(words):
    """Return how many events and how many triggers words hold at most.

    words : (n,) uint16
    """
    n_events = 0
    n_triggers = 0
    for i in range(words.size):
        word = words[i]
        kind = word >> 12
        bits = word & (0xFFF if kind == 4 else 0xFF if kind == 5 else 0)
        bits = bits - ((bits >> 1) & 0x555)
        bits = (bits & 0x333) + ((bits >> 2) & 0x333)
        bits = (bits & 0xF) + ((bits >> 4) & 0xF) + (bits >> 8)
        n_events += bits + (kind == 2)
        n_triggers += kind == 10
    return n_events, n_triggers


@njit
def decode_evt3(words, state, x, y, t, p, trigger_t, trigger_word):
    """Fill the columns with the events of words; return how many events and triggers came.

    words : (n,) uint16                   state : (8,) int64, updated in place
    x, y : (m,) uint16                    t : (m,) int64, us         p : (m,) bool
    trigger_t : (k,) int64, us            trigger_word : (k,) uint16
    m and k as `count_evt3` says, m plus `SLACK`. Events before the first TIME_HIGH, ADDR_Y or
    VECT_BASE_X have no time or place; they are counted in ``state[N_LOST]``.
    """
    time, low, row = state[TIME], state[LOW], state[ROW]
    base, polarity = state[BASE], state[POLARITY] != 0
    n_lost, n_reserved = state[N_LOST], state[N_RESERVED]
    n = 0
    n_triggers = 0
    for i in range(words.size):
        word = words[i]
        kind = word >> 12
        value = word & 0xFFF
        if kind == ADDR_X:
            if time < 0 or row < 0:
                n_lost += 1
            else:
                x[n] = value & 0x7FF
                y[n] = row
                t[n] = time | low
                p[n] = value > 0x7FF
                n += 1
        elif kind == ADDR_Y:
            row = value & 0x7FF
        elif kind == TIME_LOW:
            low = value
        elif kind == VECT_12 or kind == VECT_8:
            width = 12 if kind == VECT_12 else 8
            for bit in range(width):
                if (value >> bit) & 1:
                    if time < 0 or row < 0 or base < 0:
                        n_lost += 1
                    else:
                        x[n] = base + bit
                        y[n] = row
                        t[n] = time | low
                        p[n] = polarity
                        n += 1
            if base >= 0:
                base = (base + width) & 0xFFFF
        elif kind == VECT_BASE_X:
            base = value & 0x7FF
            polarity = value > 0x7FF
        elif kind == TIME_HIGH:
            if time < 0:
                time = value << 12
                low = 0
            else:
                high = (time >> 12) & 0xFFF
                if value != high:
                    # 2048 of 4096 steps back is the clock that starts over; less is damage.
                    loops = (time >> 24) + (high >= value + 2048)
                    time = (loops << 24) | (value << 12)
                    low = 0
        elif kind == EXT_TRIGGER:
            if time < 0:
                n_lost += 1
            else:
                trigger_t[n_triggers] = time | low
                trigger_word[n_triggers] = word
                n_triggers += 1
        elif kind != CONTINUED_12 and kind != CONTINUED_4 and kind != OTHERS:
            n_reserved += 1
    state[TIME], state[LOW], state[ROW] = time, low, row
    state[BASE], state[POLARITY] = base, polarity
    state[N_LOST], state[N_RESERVED] = n_lost, n_reserved
    return n, n_triggers
