"""Decode EVT 2.0 and EVT 2.1 word by word; oracle of ``kernels/io/evt2.py``."""


def unwrapped_high(previous, high, bits):
    """Return TIME_HIGH plus the loops of its clock; a step back by half the range is a loop."""
    if previous is None:
        return high
    loops, before = divmod(previous, 1 << bits)
    return ((loops + (before - high >= 1 << (bits - 1))) << bits) + high


def decode_evt2(words):
    """Return events (x, y, t, p), triggers (t, value, channel), and the number lost."""
    return decode_evt21((word, 1) for word in words)


def decode_evt21(words):
    """Return the same for EVT 2.1; words are pairs (half with the type, mask)."""
    events, triggers = [], []
    high = None
    n_lost = 0
    for word, mask in words:
        kind, value, mask = int(word) >> 28, int(word) % (1 << 28), int(mask)
        time = None if high is None else high * 64 + (value >> 22)
        if kind == 0x8:
            high = unwrapped_high(high, value, 28)
        elif kind in (0x0, 0x1) and high is None:
            n_lost += mask.bit_count()
        elif kind in (0x0, 0x1):
            x, y = (value >> 11) % 2048, value % 2048
            events += [(x + bit, y, time, kind) for bit in range(32) if mask >> bit & 1]
        elif kind == 0xA and high is None:
            n_lost += 1
        elif kind == 0xA:
            triggers.append((time, value & 1, (value >> 8) % 32))
    return events, triggers, n_lost
