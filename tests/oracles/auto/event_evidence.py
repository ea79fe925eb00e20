"""Slow and obvious versions of the kernels of `auto`: support, readiness and weighted maps.

Points are tuples of arrays (x, y, t, p): pixel, time and polarity.
"""

import numpy as np

from evcrisp.kernels.auto.event_evidence import LEAST_READY, READY_AT
from evcrisp.kernels.auto.exposure import LEAST_EXPOSURE
from evcrisp.kernels.auto.self_support import LEAST_SHARE
from evcrisp.kernels.auto.support import LEAST_SUPPORT


def same_source(points, k, events):
    """Return which events have the pixel and the polarity of point k."""
    x, y, _, p = events
    return (x == points[0][k]) & (y == points[1][k]) & (p == points[3][k])


def spline(distance):
    """Quadratic B-spline."""
    d = np.abs(distance)
    return np.where(d < 0.5, 0.75 - d * d, np.where(d < 1.5, 0.5 * (1.5 - d) ** 2, 0.0))


def self_support(x, y, other_x, other_y, reach=4):
    """Return the overlap of other footprints with one at (x, y), summed over pixels."""
    total = []
    for a, others in ((x, other_x), (y, other_y)):
        pixels = np.arange(np.floor(a) - reach, np.floor(a) + reach + 2)
        total.append(spline(pixels - a) @ spline(pixels[:, None] - others[None, :]))
    return total[0] * total[1]


def support(points, positions, events, event_places):
    """Sum the contrast at every point from events of its polarity and of other pixels.

    Overlaps below LEAST_SHARE with events of the own pixel are not excluded.
    """
    out = []
    for k in range(len(points[2])):
        given = self_support(positions[0][k], positions[1][k], *event_places)
        own = same_source(points, k, events)
        total = given[(events[3] == points[3][k]) & (~own | (given < LEAST_SHARE))].sum()
        out.append(total if total > LEAST_SUPPORT else 0.0)
    return np.array(out)


def divide_by_exposure(value, exposure):
    """Divide by the exposure."""
    return value / np.maximum(exposure, LEAST_EXPOSURE)


def readiness_of_samples(points, k, excess, events, event_excess, chance, direction):
    """Return the readiness of point k, given the nearest event of its source in time.

    direction : -1 for events before the point, 1 for events after it
    """
    others = same_source(points, k, events)
    if points is events:
        others &= np.sign(np.arange(others.size) - k) == direction
    else:
        others &= (events[2] > points[2][k]) == (direction > 0)
    if not others.any():
        return 1.0
    j = np.flatnonzero(others)[0 if direction > 0 else -1]
    expected = abs(points[2][k] - events[2][j]) * (excess[k] + event_excess[j]) / 2
    ready = LEAST_READY + (1 - LEAST_READY) * min(expected / READY_AT, 1.0) ** 2
    return chance[j] * ready + (1 - chance[j])


def forward_backward_readiness(events, excess, background, direction):
    """Return readiness and probability of all events, one after the other, sorted by time."""
    n = excess.size
    ready, chance = np.empty(n), np.full(n, np.nan)
    for k in range(n) if direction < 0 else range(n - 1, -1, -1):
        ready[k] = readiness_of_samples(events, k, excess, events, excess, chance, direction)
        rate = excess[k] * ready[k]
        chance[k] = rate / (rate + background[events[3][k]])
    return ready, chance


def weight_maps(points, confidence, supporting, shape):
    """Return W, W o M and M of both polarities together; M is built event by event."""
    kept, total = np.zeros(shape), np.zeros(shape)
    rows, columns = np.arange(shape[0]), np.arange(shape[1])
    for k in np.flatnonzero(supporting & (points.cell >= 0)):
        footprint = np.outer(spline(rows - points.y[k]), spline(columns - points.x[k]))
        total += footprint
        kept += confidence[k] * footprint
    return np.divide(kept, total, out=np.zeros(shape), where=total > 0), kept, total
