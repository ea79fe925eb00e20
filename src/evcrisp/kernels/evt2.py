"""EVT 2.0 (32-bit words) and EVT 2.1 (64-bit words with masks of 32 pixels) of Prophesee.

The state of a stream is one int64 array, so that words may come in pieces of any size.
"""

from evcrisp.kernels import njit

#: Fields of the state.
TIME, N_LOST, N_RESERVED = range(3)
STATE_SIZE = 4
#: What a new stream starts with: no time is known.
START = (-1, 0, 0, 0)
#: The columns need this many elements more than there are events.
SLACK = 32

CD_OFF, CD_ON, TIME_HIGH, EXT_TRIGGER, OTHERS, CONTINUED = 0x0, 0x1, 0x8, 0xA, 0xE, 0xF
TIME_HIGH_VALUES = 1 << 28


@njit
def advanced_time(time, high):
    """Return the time at a TIME_HIGH word, us; more than half the range back is a new loop."""
    if time < 0:
        return high << 6
    loops = time >> 34
    before = (time >> 6) & (TIME_HIGH_VALUES - 1)
    if before >= high + TIME_HIGH_VALUES // 2:
        loops += 1
    return (loops << 34) | (high << 6)


@njit
def count_evt2(words):
    """Return how many events and how many triggers words hold at most.

    words : (n,) uint32
    """
    n_events = 0
    n_triggers = 0
    for i in range(words.size):
        kind = words[i] >> 28
        n_events += kind <= 1
        n_triggers += kind == 10
    return n_events, n_triggers


@njit
def decode_evt2(words, state, x, y, t, p, trigger_t, trigger_word):
    """Fill the columns with the events of words; return how many events and triggers came.

    words : (n,) uint32                   state : (4,) int64, updated in place
    x, y : (m,) uint16                    t : (m,) int64, us         p : (m,) bool
    trigger_t : (k,) int64, us            trigger_word : (k,) uint32
    m and k as `count_evt2` says, m plus `SLACK`. Events before the first TIME_HIGH have no time;
    they are counted in ``state[N_LOST]``.
    """
    time, n_lost, n_reserved = state[TIME], state[N_LOST], state[N_RESERVED]
    n = 0
    n_triggers = 0
    for i in range(words.size):
        word = words[i]
        kind = word >> 28
        if kind <= 1:
            if time < 0:
                n_lost += 1
            else:
                x[n] = (word >> 11) & 0x7FF
                y[n] = word & 0x7FF
                t[n] = time | ((word >> 22) & 0x3F)
                p[n] = kind != 0
                n += 1
        elif kind == TIME_HIGH:
            time = advanced_time(time, word & 0xFFFFFFF)
        elif kind == EXT_TRIGGER:
            if time < 0:
                n_lost += 1
            else:
                trigger_t[n_triggers] = time | ((word >> 22) & 0x3F)
                trigger_word[n_triggers] = word
                n_triggers += 1
        elif kind != OTHERS and kind != CONTINUED:
            n_reserved += 1
    state[TIME], state[N_LOST], state[N_RESERVED] = time, n_lost, n_reserved
    return n, n_triggers


@njit
def count_evt21(words):
    """Return how many events and how many triggers words hold at most.

    words : (n, 2) uint32, the half with the type first
    """
    n_events = 0
    n_triggers = 0
    for i in range(words.shape[0]):
        kind = words[i, 0] >> 28
        bits = words[i, 1] if kind <= 1 else 0
        bits = bits - ((bits >> 1) & 0x55555555)
        bits = (bits & 0x33333333) + ((bits >> 2) & 0x33333333)
        bits = (bits + (bits >> 4)) & 0x0F0F0F0F
        n_events += ((bits * 0x01010101) >> 24) & 0xFF
        n_triggers += kind == 10
    return n_events, n_triggers


@njit
def decode_evt21(words, state, x, y, t, p, trigger_t, trigger_word):
    """Fill the columns with the events of words; return how many events and triggers came.

    words : (n, 2) uint32, the half with the type first; the rest as for `decode_evt2`.
    """
    time, n_lost, n_reserved = state[TIME], state[N_LOST], state[N_RESERVED]
    n = 0
    n_triggers = 0
    for i in range(words.shape[0]):
        word = words[i, 0]
        kind = word >> 28
        if kind <= 1:
            mask = words[i, 1]
            for bit in range(32):
                if (mask >> bit) & 1:
                    if time < 0:
                        n_lost += 1
                    else:
                        x[n] = ((word >> 11) & 0x7FF) + bit
                        y[n] = word & 0x7FF
                        t[n] = time | ((word >> 22) & 0x3F)
                        p[n] = kind != 0
                        n += 1
        elif kind == TIME_HIGH:
            time = advanced_time(time, word & 0xFFFFFFF)
        elif kind == EXT_TRIGGER:
            if time < 0:
                n_lost += 1
            else:
                trigger_t[n_triggers] = time | ((word >> 22) & 0x3F)
                trigger_word[n_triggers] = word
                n_triggers += 1
        elif kind != OTHERS and kind != CONTINUED:
            n_reserved += 1
    state[TIME], state[N_LOST], state[N_RESERVED] = time, n_lost, n_reserved
    return n, n_triggers
