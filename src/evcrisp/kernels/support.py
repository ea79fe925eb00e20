"""Support of an event by others of its polarity, and what its own pixel says about it.

Marks are events, or places where noise might have put one: probes. A source is a pixel and a
polarity, as the number (p * height + y) * width + x; the first half of the numbers is OFF. Events are
sorted by source, and by time within, so that the events of a pixel lie side by side, and what is read
of the maps was mostly read just before. Positions are aligned, in px of the sensor; a map has a
border around it.
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

#: Events expected since the last one of a pixel, after which it is ready for another one. With an
#: even contrast threshold it would be 1; the map, blurred, shows less than there is on an edge.
READY_AT = 0.6

#: How ready a pixel is at once after an event, compared with one that is ready.
LEAST_READY = 0.05


class Marks(NamedTuple):
    """Marks in the order of source and time; all arrays have shape (n,)."""

    x: np.ndarray  # float64, aligned
    y: np.ndarray  # float64, aligned
    t: np.ndarray  # float64, in windows
    source: np.ndarray  # int32
    half: int  # the first source that is ON


class Maps(NamedTuple):
    """Contrast maps of both polarities, and how long every tile of them was in view."""

    images: np.ndarray  # (2, h, w) float64, OFF and ON
    exposure: np.ndarray  # (h, w) float64, share of the window that a tile was in view
    padding: float  # px, border of both
    tiles_per_px: float


@njit
def sort_by_source(x, y, p, height, width, stop, order, source):
    """Sort events by their source; those of one source stay in the order of time.

    x, y : (n,) uint16      p : (n,) uint8      height, width : int64, of the sensor
    stop : (2 * height * width,) int32, filled: behind the last event of each source
    order, source : (n,) int32, filled: index and source of the sorted events
    """
    stop[:] = 0
    for k in range(x.size):
        stop[(p[k] * height + y[k]) * width + x[k]] += 1
    total = 0
    for s in range(stop.size):
        n = stop[s]
        stop[s] = total
        total += n
    for k in range(x.size):
        s = (p[k] * height + y[k]) * width + x[k]
        order[stop[s]] = k
        source[stop[s]] = s
        stop[s] += 1


@njit
def take(values, order, scale, out):
    """Bring values of events into another order: out[i] = scale values[order[i]]."""
    for i in range(order.size):
        out[i] = scale * values[order[i]]


@njit
def find_probes(source, t, stop, event_t, place):
    """Find where probes would stand among the sorted events: just before event place[k].

    source : (n,) int32      t : (n,) float64      stop : from `sort_by_source`
    event_t : (n_events,) float64, sorted      place : (n,) int32, filled
    """
    for k in range(t.size):
        first = stop[source[k] - 1] if source[k] > 0 else 0
        last = stop[source[k]]
        while first < last:
            middle = (first + last) // 2
            if event_t[middle] <= t[k]:
                first = middle + 1
            else:
                last = middle
        place[k] = first


@njit
def _taps(a):
    """Weights of a quadratic B-spline on three pixels, at offset a in -0.5..0.5 from the middle."""
    return 0.5 * (0.5 - a) ** 2, 0.75 - a * a, 0.5 * (0.5 + a) ** 2


@njit
def vote(events, order, keep, padding, images):
    """Add every event that is kept to the map of its polarity, as a quadratic B-spline.

    events : Marks      order : (n,) int32      keep : (n,) bool, in the order of time
    padding : float64      images : (2, h, w) float64, overwritten
    """
    images[:] = 0.0
    x, y, source, half = events.x, events.y, events.source, events.half
    height, width = images.shape[1:]
    for k in range(order.size):
        u, v = x[k] + padding, y[k] + padding
        # The comparison is false for NaN too, so nothing that is not a number becomes an index.
        if not (keep[order[k]] and 0.5 <= u < width - 1.5 and 0.5 <= v < height - 1.5):
            continue
        image = images[1 if source[k] >= half else 0]
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
def _spline(distance):
    """Quadratic B-spline, without branches."""
    d = abs(distance)
    wide, narrow = max(1.5 - d, 0.0), max(0.5 - d, 0.0)
    return 0.5 * wide * wide - 1.5 * narrow * narrow


@njit
def _shared(a0, a1, a2, distance):
    """Sum over pixels of the product of two splines, along one axis.

    a0, a1, a2 : weights of the first      distance : from the second to the middle one of its pixels
    """
    return a0 * _spline(distance - 1.0) + a1 * _spline(distance) + a2 * _spline(distance + 1.0)


@njit
def own_of_events(events, own):
    """Sum up what the events of a source put at each other's places and at their own.

    events : Marks      own : (n,) float64, filled
    """
    x, y, source = events.x, events.y, events.source
    for k in range(own.size):
        i, j = np.floor(x[k] + 0.5), np.floor(y[k] + 0.5)
        a0, a1, a2 = _taps(x[k] - i)
        b0, b1, b2 = _taps(y[k] - j)
        own[k] = (a0 * a0 + a1 * a1 + a2 * a2) * (b0 * b0 + b1 * b1 + b2 * b2)
        for m in range(k - 1, max(k - 1 - MAX_BURST, -1), -1):
            if source[m] != source[k]:
                break
            share = _shared(a0, a1, a2, i - x[m]) * _shared(b0, b1, b2, j - y[m])
            # False for NaN too, which then does not spread.
            if not share >= LEAST_SHARE:
                break
            own[k] += share
            own[m] += share


@njit
def own_of_probes(probes, place, events, own):
    """Sum up what the events of its source put at the place of a probe.

    probes, events : Marks      place : from `find_probes`      own : (n,) float64, filled
    """
    x, y, source = events.x, events.y, events.source
    for k in range(own.size):
        i, j = np.floor(probes.x[k] + 0.5), np.floor(probes.y[k] + 0.5)
        a0, a1, a2 = _taps(probes.x[k] - i)
        b0, b1, b2 = _taps(probes.y[k] - j)
        own[k] = 0.0
        for step in (-1, 1):
            m = place[k] - 1 if step < 0 else place[k]
            for _ in range(MAX_BURST):
                if not 0 <= m < x.size or source[m] != probes.source[k]:
                    break
                share = _shared(a0, a1, a2, i - x[m]) * _shared(b0, b1, b2, j - y[m])
                if not share >= LEAST_SHARE:
                    break
                own[k] += share
                m += step


@njit
def _interpolated(exposure, u, v):
    """Interpolate between the four tiles around a place; outside, the nearest ones decide."""
    height, width = exposure.shape
    u, v = min(max(u, 0.0), width - 1.001), min(max(v, 0.0), height - 1.001)
    i, j = int(u), int(v)
    a, b = u - i, v - j
    upper = exposure[j, i] * (1.0 - a) + exposure[j, i + 1] * a
    lower = exposure[j + 1, i] * (1.0 - a) + exposure[j + 1, i + 1] * a
    return max(upper * (1.0 - b) + lower * b, LEAST_EXPOSURE)


@njit
def read_support(maps, marks, support):
    """Read the map of its polarity at every mark, less what the own source has put there.

    maps : Maps      marks : Marks
    support : (n,) float64, at first what the own source has put there; then the support per time in
    view, 0 or more, or -1 for a mark off the map
    """
    images, exposure, padding, tiles_per_px = maps
    x, y, source, half = marks.x, marks.y, marks.source, marks.half
    height, width = images.shape[1:]
    for k in range(support.size):
        u, v = x[k] + padding, y[k] + padding
        if not (0.5 <= u < width - 1.5 and 0.5 <= v < height - 1.5):
            support[k] = -1.0
            continue
        image = images[1 if source[k] >= half else 0]
        i, j = int(u + 0.5), int(v + 0.5)
        a0, a1, a2 = _taps(u - i)
        b0, b1, b2 = _taps(v - j)
        total = b0 * (a0 * image[j - 1, i - 1] + a1 * image[j - 1, i] + a2 * image[j - 1, i + 1])
        total += b1 * (a0 * image[j, i - 1] + a1 * image[j, i] + a2 * image[j, i + 1])
        total += b2 * (a0 * image[j + 1, i - 1] + a1 * image[j + 1, i] + a2 * image[j + 1, i + 1])
        total -= support[k]
        support[k] = 0.0
        if total > LEAST_SUPPORT:
            across, down = (u + 0.5) * tiles_per_px - 0.5, (v + 0.5) * tiles_per_px - 0.5
            support[k] = total / _interpolated(exposure, across, down)


@njit
def count_quiet(support, marks, quiet, counts):
    """Count the marks of each polarity, OFF and ON, with no more support than `quiet`.

    support : (n,) float64      marks : Marks      quiet : (2,) float64
    counts : (2,) int64, filled
    """
    counts[:] = 0
    for k in range(support.size):
        q = 1 if marks.source[k] >= marks.half else 0
        if support[k] <= quiet[q]:
            counts[q] += 1


@njit
def _readiness(interval, both, chance):
    """How ready a source is, given another event that is signal with some chance.

    interval : time between them, in windows      both : sum of the rates at which the source fires
    at the two places, per window
    """
    share = min(interval * both * (0.5 / READY_AT), 1.0)
    return 1.0 - chance * (1.0 - LEAST_READY) * (1.0 - share * share)


@njit
def follow_pixels(events, support, background, chance, ready):
    """Go through the events of every source, forward and backward in time at once.

    events : Marks      support : (n,) float64      background : (2,) float64, above 0, OFF and ON
    chance : (2, n) float64, filled: that an event is signal, given those before it; after it
    ready : (n,) float64, filled: how ready its source was, before and after, multiplied
    """
    t, source, half = events.t, events.source, events.half
    n = support.size
    ready[:] = 1.0
    # Both ways in one loop: each step waits for the one before it, and the other way fills the wait.
    for i in range(n):
        for way in range(2):
            k = i if way == 0 else n - 1 - i
            j = max(k - 1, 0) if way == 0 else min(k + 1, n - 1)
            rate = background[1 if source[k] >= half else 0]
            excess = max(support[k] - rate, 0.0)
            factor = 1.0
            if i > 0 and source[j] == source[k]:
                both = excess + max(support[j] - rate, 0.0)
                factor = _readiness(abs(t[k] - t[j]), both, chance[way, j])
            ready[k] *= factor
            chance[way, k] = excess * factor / (excess * factor + rate)


@njit
def look_at_pixels(probes, probe_support, place, events, support, background, chance, ready):
    """Find how ready the sources of probes are, given what `follow_pixels` says about the events.

    probes, events : Marks      probe_support, support : (n,) float64      place : from `find_probes`
    background, chance : as there      ready : (n,) float64, of the probes, filled
    """
    t, source, half = probes.t, probes.source, probes.half
    times, sources = events.t, events.source
    for k in range(ready.size):
        rate = background[1 if source[k] >= half else 0]
        excess = max(probe_support[k] - rate, 0.0)
        ready[k] = 1.0
        for way in range(2):
            j = place[k] - 1 + way
            if 0 <= j < times.size and sources[j] == source[k]:
                both = excess + max(support[j] - rate, 0.0)
                ready[k] *= _readiness(abs(t[k] - times[j]), both, chance[way, j])


@njit
def weigh(support, marks, background, ready):
    """Turn support into evidence: what is above the background, times the readiness.

    support : (n,) float64, overwritten      marks : Marks      background : (2,) float64
    ready : (n,) float64
    """
    source, half = marks.source, marks.half
    for k in range(support.size):
        excess = support[k] - background[1 if source[k] >= half else 0]
        support[k] = excess * ready[k] if excess > 0.0 else excess


@njit
def conclude(evidence, order, threshold, score, confidence, signal):
    """Bring the evidence back into the order of time, as score, confidence and label.

    evidence : (n,) float64, sorted      order : (n,) int32      threshold : float64, above 0
    score, confidence : (n,) float64, filled      signal : (n,) bool, filled
    """
    for i in range(order.size):
        k = order[i]
        relative = evidence[i] / threshold
        score[k] = relative
        signal[k] = relative > 1.0
        square = relative * relative
        confidence[k] = 1.0 - 0.5 / square if relative > 0.0 and square > 0.5 else 0.0


@njit
def mask_maps(images, background, threshold, w_map, sums):
    """Weigh the maps of both polarities by their confidence, and add them up.

    images : (2, h, w) float64      background : (2,) float64      threshold : float64, above 0
    w_map : (h, w) float64, filled: the confidence W of both maps together
    sums : (6,) float64, filled, over pixels: M, M^2, W M, (W M)^2, W, (W M - M)^2
    """
    height, width = w_map.shape
    limit = 0.5 * threshold * threshold
    sums[:] = 0.0
    for r in range(height):
        for c in range(width):
            total = images[0, r, c] + images[1, r, c]
            w_map[r, c] = 0.0
            if total == 0.0:
                continue
            kept = 0.0
            for q in range(2):
                excess = images[q, r, c] - background[q]
                if excess > 0.0 and excess * excess > limit:
                    kept += images[q, r, c] * (1.0 - limit / (excess * excess))
            w_map[r, c] = kept / total
            sums[0] += total
            sums[1] += total * total
            sums[2] += kept
            sums[3] += kept * kept
            sums[4] += w_map[r, c]
            sums[5] += (kept - total) ** 2


@njit
def add_up(images, sums):
    """Sum up both maps together, and their squares.

    images : (2, h, w) float64      sums : (2,) float64, filled, over pixels: M, M^2
    """
    height, width = images.shape[1:]
    total, square = 0.0, 0.0
    for r in range(height):
        for c in range(width):
            value = images[0, r, c] + images[1, r, c]
            total += value
            square += value * value
    sums[0] = total
    sums[1] = square
