"""Decode EVT 2.0 (32-bit words) and EVT 2.1 (64-bit words with masks of 32 pixels).

The first four bits of a word are its type. The state of a stream is an int64 array, so that words
can come in pieces of any size.
"""

import numpy as np

from evcrisp.kernels.compile import njit
from evcrisp.kernels.io.bits import count_bits, lowest_bit

#: Fields of the state.
TIME, N_LOST, N_RESERVED = range(3)
#: State of a new stream: the time is unknown.
START = (-1, 0, 0, 0)
#: Additional elements of the columns, beyond the number of events.
SLACK = 16

CD_OFF, CD_ON, TIME_HIGH, EXT_TRIGGER, OTHERS, CONTINUED = 0x0, 0x1, 0x8, 0xA, 0xE, 0xF
#: One bit per documented type.
DOCUMENTED = 0xC503
#: A step of TIME_HIGH back by this or more is a loop of the clock.
HALF_LOOP = 1 << 27

_ONE = np.uint64(1)


@njit
def advanced_evt2(time, high):
    """Return the time of a TIME_HIGH word, us. ``time`` is that of the word before, or -1."""
    if time < 0:
        return high << 6
    before = (time >> 6) & 0xFFFFFFF
    return (((time >> 34) + (before >= high + HALF_LOOP)) << 34) | (high << 6)


@njit
def _other_word(word, time, state, n_triggers, trigger_t, trigger_word):
    """Process a word that is neither an event nor a time; return the number of triggers."""
    kind = word >> 28
    if kind != EXT_TRIGGER:
        state[N_RESERVED] += not (DOCUMENTED >> kind) & 1
        return 0
    if time < 0:
        state[N_LOST] += 1
        return 0
    trigger_t[n_triggers] = time | ((word >> 22) & 0x3F)
    trigger_word[n_triggers] = word
    return 1


@njit
def count_evt2(words):
    """Return upper bounds of the numbers of events and triggers in words, (n,) uint32."""
    n_events = 0
    n_triggers = 0
    for i in range(words.size):
        kind = words[i] >> 28
        n_events += kind <= CD_ON
        n_triggers += kind == EXT_TRIGGER
    return n_events, n_triggers


@njit
def decode_evt2(words, state, x, y, t, p, trigger_t, trigger_word):
    """Decode words to columns; return the numbers of events and triggers.

    words : (n,) uint32                   state : (4,) int64, updated in place
    x, y : (m,) uint16                    t : (m,) int64, us         p : (m,) bool
    trigger_t : (k,) int64, us            trigger_word : (k,) uint32
    m and k from `count_evt2`, m plus `SLACK`. Events before the first TIME_HIGH have no time and
    are counted in ``state[N_LOST]``.
    """
    time = state[TIME]
    n = 0
    n_triggers = 0
    for i in range(words.size):
        word = np.int64(words[i])
        kind = word >> 28
        if kind <= CD_ON:
            if time < 0:
                state[N_LOST] += 1
                continue
            x[n] = (word >> 11) & 0x7FF
            y[n] = word & 0x7FF
            t[n] = time | ((word >> 22) & 0x3F)
            p[n] = kind == CD_ON
            n += 1
        elif kind == TIME_HIGH:
            time = advanced_evt2(time, word & 0xFFFFFFF)
        else:
            n_triggers += _other_word(word, time, state, n_triggers, trigger_t, trigger_word)
    state[TIME] = time
    return n, n_triggers


@njit
def count_evt21(words):
    """Return upper bounds as `count_evt2`. words : (n, 2) uint32, the half with the type first."""
    n_events = 0
    n_triggers = 0
    for i in range(words.shape[0]):
        kind = words[i, 0] >> 28
        n_events += count_bits(np.int64(words[i, 1])) if kind <= CD_ON else 0
        n_triggers += kind == EXT_TRIGGER
    return n_events, n_triggers


@njit
def decode_evt21(words, state, x, y, t, p, trigger_t, trigger_word):
    """Decode words : (n, 2) uint32, the half with the type first; the rest as `decode_evt2`."""
    time = state[TIME]
    n = 0
    n_triggers = 0
    for i in range(words.shape[0]):
        word = np.int64(words[i, 0])
        kind = word >> 28
        if kind <= CD_ON:
            mask = np.uint64(words[i, 1])
            if time < 0:
                state[N_LOST] += count_bits(np.int64(mask))
                continue
            first = np.uint64((word >> 11) & 0x7FF)
            row = word & 0x7FF
            now = time | ((word >> 22) & 0x3F)
            while mask:
                x[n] = first + lowest_bit(mask)
                y[n] = row
                t[n] = now
                p[n] = kind == CD_ON
                n += 1
                mask &= mask - _ONE
        elif kind == TIME_HIGH:
            time = advanced_evt2(time, word & 0xFFFFFFF)
        else:
            n_triggers += _other_word(word, time, state, n_triggers, trigger_t, trigger_word)
    state[TIME] = time
    return n, n_triggers
