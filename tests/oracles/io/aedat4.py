"""Convert the event records of AEDAT4 with `struct`; oracle of ``kernels/io/aedat4.py``."""

import struct

_RECORD = struct.Struct("<qHHB3s")


def split_records(data):
    """Return the good rows (x, y, t, p) of records: those before a polarity other than 0 and 1."""
    rows = []
    for t, x, y, p, _ in _RECORD.iter_unpack(data):
        if p > 1:
            break
        rows.append((x, y, t, p))
    return rows


def place_records(data, width, height, t_last):
    """Return whether all records are good: polarity, pixels on the sensor, order of time."""
    for t, x, y, p, _ in _RECORD.iter_unpack(data):
        if p > 1 or x >= width or y >= height or t < t_last:
            return False
        t_last = t
    return True


def join_records(rows, padding=b"\0\0\0"):
    """Return the records of rows (x, y, t, p) as bytes."""
    return b"".join(_RECORD.pack(t, x, y, p, padding) for x, y, t, p in rows)
