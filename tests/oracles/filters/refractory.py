"""Slow version of the kernel of refractory."""

import math


def time_since_last(x, y, t, p, config):
    """Score by the time since the last event of the pixel."""
    last, scores = {}, []
    for x0, y0, now in zip(x, y, t, strict=True):
        age = now - last.get((x0, y0), -math.inf)
        scores.append(1.0 if age == math.inf else age / (age + config.period_us + 1))
        if scores[-1] >= 0.5 or not config.since_kept:
            last[x0, y0] = now
    return scores
