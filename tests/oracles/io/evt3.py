"""Decode EVT 3.0 word by word; oracle of ``kernels/io/evt3.py``."""

from tests.oracles.io.evt2 import unwrapped_high


def decode_evt3(words):
    """Return events (x, y, t, p), triggers (t, value, channel), and the number lost."""
    events, triggers = [], []
    high = low = row = base = polarity = None
    n_lost = 0
    for word in map(int, words):
        kind, value = word >> 12, word & 0xFFF
        found = []
        if kind == 0x0:
            row = value % 2048
        elif kind == 0x2:
            found = [(value % 2048, value // 2048)]
        elif kind == 0x3:
            base, polarity = value % 2048, value // 2048
        elif kind in (0x4, 0x5):
            size = 12 if kind == 0x4 else 8
            found = [
                (None if base is None else (base + bit) % 65_536, polarity)
                for bit in range(size)
                if value >> bit & 1
            ]
            base = None if base is None else (base + size) % 65_536
        elif kind == 0x6:
            low = value
        elif kind == 0x8:
            looped = unwrapped_high(high, value, 12)
            low = low if looped == high else 0
            high = looped
        elif kind == 0xA and high is None:
            n_lost += 1
        elif kind == 0xA:
            triggers.append((high * 4096 + low, value & 1, value >> 8))
        for x, p in found:
            if None in (high, row, x):
                n_lost += 1
            else:
                events.append((x, row, high * 4096 + low, p))
    return events, triggers, n_lost
