"""The slow and obvious version of ``support.py``, for tests."""

import numpy as np

from evcrisp.kernels.support import (
    LEAST_EXPOSURE,
    LEAST_READY,
    LEAST_SHARE,
    LEAST_SUPPORT,
    MAX_LOOK,
    READY_AT,
)


def neighbors(pixels, events):
    """Find the last event before and the first after every mark, in its pixel; -1 for none.

    Both are given as (x, y, t, p). Events at the time of a probe count as before it.
    """
    x, y, t, p = events
    before, after = [], []
    for k in range(len(pixels[2])):
        same = (x == pixels[0][k]) & (y == pixels[1][k]) & (p == pixels[3][k])
        if pixels is events:
            earlier, later = np.arange(x.size) < k, np.arange(x.size) > k
        else:
            earlier, later = t <= pixels[2][k], t > pixels[2][k]
        before.append(max(np.flatnonzero(same & earlier), default=-1))
        after.append(min(np.flatnonzero(same & later), default=-1))
    return np.array(before), np.array(after)


def spline(distance):
    """Quadratic B-spline."""
    d = np.abs(distance)
    return np.where(d < 0.5, 0.75 - d * d, np.where(d < 1.5, 0.5 * (1.5 - d) ** 2, 0.0))


def shares(x, y, other_x, other_y, reach=4):
    """Return what others put at (x, y): the sum over pixels of the product of both footprints."""
    total = []
    for a, others in ((x, other_x), (y, other_y)):
        pixels = np.arange(np.floor(a) - reach, np.floor(a) + reach + 2)
        total.append(spline(pixels - a) @ spline(pixels[:, None] - others[None, :]))
    return total[0] * total[1]


def support(marks, places, events, event_places):
    """Add up what events of the same polarity and of other pixels put at every mark.

    What events of the own pixel add from far away, below LEAST_SHARE, is not told apart.
    """
    x, y, _, p = events
    out = []
    for k in range(len(marks[2])):
        given = shares(places[0][k], places[1][k], *event_places)
        own = (x == marks[0][k]) & (y == marks[1][k])
        total = given[(p == marks[3][k]) & (~own | (given < LEAST_SHARE))].sum()
        out.append(total if total > LEAST_SUPPORT else 0.0)
    return np.array(out)


def exposed(value, exposure):
    """Divide by the time in view."""
    return value / np.maximum(exposure, LEAST_EXPOSURE)


def readiness(t, excess, chain, events_t, events_excess, chance):
    """Return the expected readiness at time t; ``chain`` holds the events of the pixel, nearest first."""
    total, rest = 0.0, 1.0
    for j in chain[:MAX_LOOK]:
        expected = abs(t - events_t[j]) * (excess + events_excess[j]) / 2
        if expected >= READY_AT:
            break
        ready = LEAST_READY + (1 - LEAST_READY) * (expected / READY_AT) ** 2
        total += rest * chance[j] * ready
        rest *= 1 - chance[j]
    return total + rest


def masked(maps, background, threshold):
    """Return W and W o M of both polarities together."""
    excess = np.maximum(maps - background[:, None, None], 1e-12)
    w = np.clip(1.0 - 0.5 * threshold**2 / excess**2, 0.0, 1.0)
    kept = (w * maps).sum(axis=0)
    total = maps.sum(axis=0)
    return np.divide(kept, total, out=np.zeros_like(kept), where=total > 0), kept
