"""Convert the 16-byte event records of AEDAT4, two 64-bit words each, to columns and back.

Word 0 is the time. Word 1 has x in bits 0-15, y in bits 16-31, polarity in bits 32-39, and padding.
"""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def split_records(words, first, n, x, y, t, p, at):
    """Copy records ``first .. first + n`` to the columns from row ``at``; return the number of good ones.

    words : (2m,) uint64      x, y : (k,) uint16      t : (k,) int64      p : (k,) uint8
    The good records end before the first polarity other than 0 and 1.
    """
    # Slices with a plain index from 0 are six times faster than indices with an offset.
    records = words[2 * first : 2 * (first + n)]
    x, y, t, p = x[at : at + n], y[at : at + n], t[at : at + n], p[at : at + n]
    seen = np.uint8(0)
    for i in range(n):
        word = records[2 * i + 1]
        t[i] = np.int64(records[2 * i])
        x[i] = np.uint16(word)
        y[i] = np.uint16(word >> np.uint64(16))
        p[i] = np.uint8(word >> np.uint64(32))
        seen |= p[i]
    if seen <= 1:
        return n
    good = 0
    while p[good] <= 1:
        good += 1
    return good


@njit
def place_records(words, n, x, y, t, p, at, limits):
    """Copy records to the columns from row ``at``; return whether all are good.

    words : (2n,) uint64      x, y : (k,) uint16      t : (k,) int64      p : (k,) uint8
    limits : (3,) int64: width, height, and the time of the last event, which is updated
    Good records have polarity 0 or 1, a pixel on the sensor, and a time that does not decrease.
    """
    x, y, t, p = x[at : at + n], y[at : at + n], t[at : at + n], p[at : at + n]
    seen = np.uint8(0)
    x_max = np.uint16(0)
    y_max = np.uint16(0)
    n_falls = 0
    t_last = limits[2]
    for i in range(n):
        word = words[2 * i + 1]
        time = np.int64(words[2 * i])
        n_falls += time < t_last
        t_last = time
        t[i] = time
        x[i] = np.uint16(word)
        y[i] = np.uint16(word >> np.uint64(16))
        p[i] = np.uint8(word >> np.uint64(32))
        x_max = max(x_max, x[i])
        y_max = max(y_max, y[i])
        seen |= p[i]
    limits[2] = t_last
    return seen <= 1 and n_falls == 0 and x_max < limits[0] and y_max < limits[1]


@njit
def join_records(x, y, t, p, first, n, words, at):
    """Write rows ``first .. first + n`` of the columns as records, from record ``at``.

    x, y : (k,) uint16      t : (k,) int64      p : (k,) uint8, 0 or 1      words : (2m,) uint64
    """
    records = words[2 * at : 2 * (at + n)]
    x, y = x[first : first + n], y[first : first + n]
    t, p = t[first : first + n], p[first : first + n]
    for i in range(n):
        pixel = np.uint64(x[i]) | (np.uint64(y[i]) << np.uint64(16))
        records[2 * i] = np.uint64(t[i])
        records[2 * i + 1] = pixel | (np.uint64(p[i]) << np.uint64(32))
