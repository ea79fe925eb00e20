"""Slow version of the kernel of ts."""

import math


def time_surface_mean(x, y, t, p, config):
    """Score by the mean of exp(-age / tau) over the pixels of the square that have fired."""
    last, scores = {}, []
    steps = range(-config.radius, config.radius + 1)
    for x0, y0, now, polarity in zip(x, y, t, p, strict=True):
        places = [(x0 + dx, y0 + dy, polarity) for dx in steps for dy in steps]
        values = [math.exp((last[at] - now) / config.tau_us) for at in places if at in last]
        scores.append(sum(values) / max(len(values), 1))
        last[x0, y0, polarity] = now
    return scores
