"""Decode and encode DAT event by event; oracle of ``kernels/io/dat.py``."""


def decode_dat(pairs, x_bits, y_bits):
    """Return events (x, y, t, p) of pairs (time, address)."""
    events = []
    loops, last = 0, 0
    for raw, address in pairs:
        raw, address = int(raw), int(address)
        loops += last - raw > 1 << 31
        last = raw
        x, rest = address % (1 << x_bits), address >> x_bits
        y, p = rest % (1 << y_bits), (rest >> y_bits) & 1
        events.append((x, y, (loops << 32) + raw, p))
    return events


def encode_dat(events):
    """Return pairs (time, address) of version 2 for events (x, y, t, p)."""
    return [(t % (1 << 32), p << 28 | y << 14 | x) for x, y, t, p in events]
