"""Decode and encode the 8-byte events of DAT: time (32 bits) and address (32 bits)."""

import numpy as np

from evcrisp.kernels.compile import njit

#: Fields of the state: loops of the clock, us, and the last time without them.
LOOPS, LAST = range(2)
HALF_LOOP = 1 << 31


@njit
def decode_dat(words, x_bits, y_bits, state, x, y, t, p):
    """Decode words to columns.

    words : (n, 2) uint32, time and address      x_bits, y_bits : int, layout of the address
    state : (2,) int64, updated in place
    x, y : (n,) uint16      t : (n,) int64, us      p : (n,) bool
    A step back by more than half the range of the clock is a loop.
    """
    loops, last = state[LOOPS], state[LAST]
    x_mask = (1 << x_bits) - 1
    y_mask = (1 << y_bits) - 1
    for i in range(words.shape[0]):
        raw = np.int64(words[i, 0])
        address = np.int64(words[i, 1])
        if last - raw > HALF_LOOP:
            loops += 1 << 32
        last = raw
        t[i] = loops + raw
        x[i] = address & x_mask
        y[i] = (address >> x_bits) & y_mask
        p[i] = (address >> (x_bits + y_bits)) & 1
    state[LOOPS], state[LAST] = loops, last


@njit
def encode_dat(x, y, t, p, out):
    """Encode events as words of version 2.

    x, y : (n,) uint16, below 2^14      t : (n,) int64, us, 0 or more      p : (n,) bool
    out : (n, 2) uint32
    """
    for i in range(t.size):
        out[i, 0] = t[i] & 0xFFFFFFFF
        out[i, 1] = (np.int64(p[i]) << 28) | (np.int64(y[i]) << 14) | x[i]
