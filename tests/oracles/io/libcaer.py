"""Decode ``libcaer_cmp`` word by word; oracle of ``kernels/io/libcaer.py``."""

from collections.abc import Iterable


def decode_libcaer(words: Iterable[int], t_base: int) -> list[tuple[int, int, int, bool]]:
    """Return (x, y, t, p) of the events of one packet."""
    events = []
    time_high = time_low = column = base = 0
    polarity = False
    for word in words:
        kind, value = divmod(word, 1 << 12)
        time = t_base + time_high * 4096 + time_low
        if kind == 0:
            time_high = value
        elif kind == 1:
            time_low = value
        elif kind == 2:
            column = value % 2048
        elif kind == 3:
            events.append((column, value % 2048, time, value >= 2048))
        elif kind == 4:
            base, polarity = value % 2048, value >= 2048
        elif kind == 5:
            rows = [base + bit for bit in range(8) if value & (1 << bit)]
            events.extend((column, row, time, polarity) for row in rows)
            base += 8
        else:
            raise ValueError(f"unknown word {word:#06x}")
    return events
