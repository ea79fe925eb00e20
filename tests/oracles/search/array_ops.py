"""Oracles of operations on columns: plain Python, event by event."""


def _mixed(value):
    value ^= value >> 16
    value = value * 0x7FEB352D % 2**32
    value ^= value >> 15
    value = value * 0x846CA68B % 2**32
    return value ^ (value >> 16)


def _spread(value):
    value = value * 0x9E3779B1 % 2**32
    return value ^ (value >> 15)


def thin(x, y, dt, center, unit, salt, limit):
    """Return which events are kept: a hash of whole-numbered distances is below the limit."""
    kept = []
    for point in zip(x, y, dt, strict=True):
        across, down, when = (
            int(abs(value - middle) * per + 0.5)
            for value, middle, per in zip(point, center, unit, strict=True)
        )
        where = (_spread(across ^ salt) + _spread(down ^ salt)) % 2**32
        kept.append(_mixed(where ^ (when * 0x85EBCA6B % 2**32)) < limit)
    return kept


def count_at_ends(values, dt, middle, low, high):
    """Return counts below low and above high, each before and after the middle."""
    pairs = list(zip(values, dt, strict=True))
    return tuple(
        (
            sum(1 for v, t in pairs if outside(v) and t < middle),
            sum(1 for v, t in pairs if outside(v) and not t < middle),
        )
        for outside in (lambda v: v < low, lambda v: v > high)
    )
