"""Support of an event by others of its polarity, and what its own pixel says about it.

A mark is an event, or a place where noise might have put one: a probe. Marks are sorted by time.
Links are indices of events of the same pixel and polarity as the mark; -1 where there is none.
Positions are aligned, in px of the sensor; a map has a border around it.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels import njit

#: Most events of its own pixel that are kept from supporting an event, on each side in time.
MAX_BURST = 64

#: What an event adds further away than this is nothing.
LEAST_SHARE = 1e-3

#: Support below this is none: less than one event gives at a distance of 2 px.
LEAST_SUPPORT = 5e-3

#: Places that were in view for a shorter share of the window are treated as if it were this.
LEAST_EXPOSURE = 0.1

#: How many events a pixel looks back at, in case that the last ones were noise.
MAX_LOOK = 4

#: Events expected since the last one of a pixel, after which it is ready for another one. With an
#: even contrast threshold it would be 1; the map, blurred, shows less than there is on an edge.
READY_AT = 0.6

#: How ready a pixel is at once after an event, compared with one that is ready.
LEAST_READY = 0.05


class Pixels(NamedTuple):
    """Where and when marks are on the sensor; all arrays have shape (n,)."""

    x: np.ndarray  # uint16
    y: np.ndarray  # uint16
    t: np.ndarray  # float64, in windows
    p: np.ndarray  # uint8, 0 or 1


class Links(NamedTuple):
    """Neighbors in time; both arrays have shape (n,)."""

    before: np.ndarray  # int32, the last event of the pixel and polarity before the mark
    after: np.ndarray  # int32, the first one after it


class Maps(NamedTuple):
    """Contrast maps of both polarities, and how long every tile of them was in view."""

    images: np.ndarray  # (2, h, w) float64
    exposure: np.ndarray  # (h, w) float64, in windows, one number per tile
    padding: float  # px, border of both
    tile: float  # px, side of a tile


@njit
def link_events(events, table, before, after):
    """Find the neighbors in time of every event.

    events : Pixels      table : (2, h, w) int32, overwritten      before, after : (n,) int32, filled
    """
    table[:] = -1
    for k in range(events.t.size):
        p, y, x = events.p[k], events.y[k], events.x[k]
        earlier = table[p, y, x]
        before[k] = earlier
        after[k] = -1
        if earlier >= 0:
            after[earlier] = k
        table[p, y, x] = k


@njit
def link_probes(probes, events, backward, table, link):
    """Find the last event before every probe, or with `backward` the first one after it.

    probes, events : Pixels      backward : bool      table : (2, h, w) int32, overwritten
    link : (n,) int32, filled
    """
    table[:] = -1
    n, n_events = probes.t.size, events.t.size
    done = 0
    for i in range(n):
        k = n - 1 - i if backward else i
        while done < n_events:
            j = n_events - 1 - done if backward else done
            if (events.t[j] <= probes.t[k]) == backward:
                break
            table[events.p[j], events.y[j], events.x[j]] = j
            done += 1
        link[k] = table[probes.p[k], probes.y[k], probes.x[k]]


@njit
def _taps(a):
    """Weights of a quadratic B-spline on three pixels, at offset a in -0.5..0.5 from the middle."""
    return 0.5 * (0.5 - a) ** 2, 0.75 - a * a, 0.5 * (0.5 + a) ** 2


@njit
def vote_by_polarity(x, y, p, keep, padding, images):
    """Add every event that is kept to the map of its polarity, as a quadratic B-spline.

    x, y : (n,) float64      p : (n,) uint8      keep : (n,) bool      padding : float64
    images : (2, h, w) float64, overwritten
    """
    images[:] = 0.0
    height, width = images.shape[1:]
    for k in range(x.size):
        u, v = x[k] + padding, y[k] + padding
        # The comparison is false for NaN too, so nothing that is not a number becomes an index.
        if not (keep[k] and 0.5 <= u < width - 1.5 and 0.5 <= v < height - 1.5):
            continue
        image = images[p[k]]
        i, j = int(u + 0.5), int(v + 0.5)
        a0, a1, a2 = _taps(u - i)
        b0, b1, b2 = _taps(v - j)
        image[j - 1, i - 1] += b0 * a0
        image[j - 1, i] += b0 * a1
        image[j - 1, i + 1] += b0 * a2
        image[j, i - 1] += b1 * a0
        image[j, i] += b1 * a1
        image[j, i + 1] += b1 * a2
        image[j + 1, i - 1] += b2 * a0
        image[j + 1, i] += b2 * a1
        image[j + 1, i + 1] += b2 * a2


@njit
def _overlap(a, b):
    """Sum over pixels of the product of two splines, at a and b in px of a map; a is above 0.5."""
    if not -3.0 < a - b < 3.0:
        return 0.0
    i, j = int(a + 0.5), int(b + 3.5) - 3
    a0, a1, a2 = _taps(a - i)
    b0, b1, b2 = _taps(b - j)
    d = j - i
    if d == 0:
        return a0 * b0 + a1 * b1 + a2 * b2
    if d == 1:
        return a1 * b0 + a2 * b1
    if d == -1:
        return a0 * b1 + a1 * b2
    if d == 2:
        return a2 * b0
    return a0 * b2 if d == -2 else 0.0


@njit
def own_of_events(x, y, before, padding, own):
    """Sum up what the events of a pixel, one polarity, put at each other's places and their own.

    x, y : (n,) float64      before : (n,) int32      padding : float64      own : (n,) float64, filled
    """
    for k in range(x.size):
        u, v = x[k] + padding, y[k] + padding
        own[k] = 0.0
        if not (u >= 0.5 and v >= 0.5):
            continue
        own[k] = _overlap(u, u) * _overlap(v, v)
        j = before[k]
        for _ in range(MAX_BURST):
            if j < 0:
                break
            share = _overlap(u, x[j] + padding) * _overlap(v, y[j] + padding)
            if share < LEAST_SHARE:
                break
            own[k] += share
            own[j] += share
            j = before[j]


@njit
def own_of_probes(x, y, links, event_x, event_y, event_links, padding, own):
    """Sum up what the events of its pixel, one polarity, put at the place of a probe.

    x, y, links : of the probes      event_x, event_y, event_links : of the events
    padding : float64      own : (n,) float64, filled
    """
    for k in range(x.size):
        u, v = x[k] + padding, y[k] + padding
        own[k] = 0.0
        if not (u >= 0.5 and v >= 0.5):
            continue
        for back in (True, False):
            j = links.before[k] if back else links.after[k]
            for _ in range(MAX_BURST):
                if j < 0:
                    break
                share = _overlap(u, event_x[j] + padding) * _overlap(v, event_y[j] + padding)
                if share < LEAST_SHARE:
                    break
                own[k] += share
                j = event_links.before[j] if back else event_links.after[j]


@njit
def _exposure(maps, x, y):
    """Interpolate between the four tiles around a place."""
    height, width = maps.exposure.shape
    u = (x + maps.padding + 0.5) / maps.tile - 0.5
    v = (y + maps.padding + 0.5) / maps.tile - 0.5
    if not (0.0 <= u < width - 1 and 0.0 <= v < height - 1):
        return LEAST_EXPOSURE
    i, j = int(u), int(v)
    a, b = u - i, v - j
    upper = maps.exposure[j, i] * (1.0 - a) + maps.exposure[j, i + 1] * a
    lower = maps.exposure[j + 1, i] * (1.0 - a) + maps.exposure[j + 1, i + 1] * a
    return max(upper * (1.0 - b) + lower * b, LEAST_EXPOSURE)


@njit
def read_support(maps, x, y, p, support):
    """Read the map of its polarity at every mark, less what the own pixel has put there.

    maps : Maps      x, y : (n,) float64      p : (n,) uint8
    support : (n,) float64, at first what is the own pixel's; then the support per time in view, 0 or
    more, or -1 for a mark off the map
    """
    height, width = maps.images.shape[1:]
    for k in range(p.size):
        u, v = x[k] + maps.padding, y[k] + maps.padding
        if not (0.5 <= u < width - 1.5 and 0.5 <= v < height - 1.5):
            support[k] = -1.0
            continue
        image = maps.images[p[k]]
        i, j = int(u + 0.5), int(v + 0.5)
        a0, a1, a2 = _taps(u - i)
        b0, b1, b2 = _taps(v - j)
        total = b0 * (a0 * image[j - 1, i - 1] + a1 * image[j - 1, i] + a2 * image[j - 1, i + 1])
        total += b1 * (a0 * image[j, i - 1] + a1 * image[j, i] + a2 * image[j, i + 1])
        total += b2 * (a0 * image[j + 1, i - 1] + a1 * image[j + 1, i] + a2 * image[j + 1, i + 1])
        total -= support[k]
        support[k] = total / _exposure(maps, x[k], y[k]) if total > LEAST_SUPPORT else 0.0


@njit
def count_quiet(support, p, quiet, counts):
    """Count the marks of each polarity with no more support than `quiet`.

    support : (n,) float64      p : (n,) uint8      quiet : (2,) float64
    counts : (2,) int64, added to
    """
    for k in range(p.size):
        if support[k] <= quiet[p[k]]:
            counts[p[k]] += 1


@njit
def _readiness(t, excess, rate, j, link, event_t, event_support, chance):
    """How ready a pixel is at time t, over all the ways in which its events may be noise."""
    ready, rest = 0.0, 1.0
    for _ in range(MAX_LOOK):
        if j < 0:
            break
        both = excess + max(event_support[j] - rate, 0.0)
        share = abs(t - event_t[j]) * both * (0.5 / READY_AT)
        if share >= 1.0:
            break
        ready += rest * chance[j] * (LEAST_READY + (1.0 - LEAST_READY) * share * share)
        rest *= 1.0 - chance[j]
        j = link[j]
    return ready + rest


@njit
def follow_pixels(t, p, support, link, backward, background, chance, ready):
    """Go through the events of every pixel in one direction of time.

    t, support : (n,) float64      p : (n,) uint8      link : (n,) int32, before or after
    backward : bool, True to go from the last event to the first, for link = after
    background : (2,) float64, above 0      chance : (n,) float64, filled: that an event is signal,
    given all that lie behind it      ready : (n,) float64, multiplied by how ready its pixel was
    """
    n = t.size
    for i in range(n):
        k = n - 1 - i if backward else i
        rate = background[p[k]]
        excess = max(support[k] - rate, 0.0)
        factor = 1.0
        if link[k] >= 0:
            factor = _readiness(t[k], excess, rate, link[k], link, t, support, chance)
        ready[k] *= factor
        chance[k] = excess * factor / (excess * factor + rate)


@njit
def look_at_pixels(probes, support, start, events, event_support, link, background, chance, ready):
    """Find how ready the pixels of probes are, given what `follow_pixels` says about the events.

    probes, events : Pixels      support, event_support : (n,) float64
    start : (n,) int32, before or after of the probes      link : the same of the events
    background : (2,) float64      chance : of the events      ready : (n,) float64, multiplied
    """
    for k in range(ready.size):
        rate = background[probes.p[k]]
        excess = max(support[k] - rate, 0.0)
        ready[k] *= _readiness(
            probes.t[k], excess, rate, start[k], link, events.t, event_support, chance
        )


@njit
def weigh(support, p, background, ready):
    """Turn support into evidence: what is above the background, times the readiness.

    support : (n,) float64, overwritten      p : (n,) uint8      background : (2,) float64
    ready : (n,) float64
    """
    for k in range(p.size):
        excess = support[k] - background[p[k]]
        support[k] = excess * ready[k] if excess > 0.0 else excess


@njit
def mask_maps(maps, background, threshold, w_map, sums):
    """Weigh the maps of both polarities by their confidence, and add them up.

    maps : (2, h, w) float64      background : (2,) float64      threshold : float64, above 0
    w_map : (h, w) float64, filled: the confidence W of both maps together
    sums : (6,) float64, filled, over pixels: M, M^2, W M, (W M)^2, W, (W M - M)^2
    """
    height, width = w_map.shape
    limit = 0.5 * threshold * threshold
    sums[:] = 0.0
    for r in range(height):
        for c in range(width):
            total, kept = 0.0, 0.0
            for q in range(2):
                value = maps[q, r, c]
                excess = value - background[q]
                total += value
                if excess > 0.0 and excess * excess > limit:
                    kept += value * (1.0 - limit / (excess * excess))
            w_map[r, c] = kept / total if kept > 0.0 else 0.0
            sums[0] += total
            sums[1] += total * total
            sums[2] += kept
            sums[3] += kept * kept
            sums[4] += w_map[r, c]
            sums[5] += (kept - total) ** 2
