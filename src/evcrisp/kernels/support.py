"""Support of an event by others of its polarity, and what its own pixel says about it.

Marks are events, or places where noise might have put one: probes. A source is a pixel and a
polarity, as the number (p * height + y) * width + x; the first half of the numbers is OFF. Events are
sorted by source, and by time within, so that the events of a pixel lie side by side, and what is read
of the maps was mostly read just before. Positions are aligned, in px of the sensor; a map has a
border around it.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels import compiled, njit

#: A product and a sum may become one operation, rounded once.
fused = compiled(error_model="numpy", fastmath={"contract"})
#: Sums may be added in any order too, so that several numbers are taken at a time.
summing = compiled(error_model="numpy", fastmath={"contract", "reassoc"})

#: Most events of its own pixel that are kept from supporting an event, on each side in time.
MAX_BURST = 64

#: More events of a source than this are put on a small map of their own instead of being compared
#: one by one; then all of them are kept from supporting each other.
LONG_BURST = 16
_PATCH_PIXELS = 4096

#: What an event adds further away than this is nothing.
LEAST_SHARE = 1e-3

#: Footprints whose pixels lie this far apart, or further, have nothing in common, px.
_REACH = 2.5

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


@fused
def _taps(a):
    """Weights of a quadratic B-spline on three pixels, at offset a in -0.5..0.5 from the middle."""
    first, middle = 0.5 * (0.5 - a) * (0.5 - a), 0.75 - a * a
    return first, middle, 1.0 - first - middle


@fused
def vote(events, order, keep, padding, images):
    """Add every event that is kept to the map of its polarity, as a quadratic B-spline.

    events : Marks      order : (n,) int32      keep : (n,) bool, in the order of time
    padding : float64      images : (2, h, w) float64, overwritten
    """
    flat = images.reshape(-1)
    flat[:] = 0.0
    x, y, source, half = events.x, events.y, events.source, events.half
    height, width = images.shape[1:]
    right, bottom = width - 1.5, height - 1.5
    # Unsigned indices spare the check for negative ones.
    below, one, two = np.uint64(width), np.uint64(1), np.uint64(2)
    for k in range(order.size):
        u, v = x[k] + padding, y[k] + padding
        # The comparison is false for NaN too, so nothing that is not a number becomes an index.
        if not (keep[order[k]] and 0.5 <= u < right and 0.5 <= v < bottom):
            continue
        i, j = int(u + 0.5), int(v + 0.5)
        upper = np.uint64((j - 1 + (height if source[k] >= half else 0)) * width + i - 1)
        middle, lower = upper + below, upper + below + below
        a0, a1, a2 = _taps(u - i)
        b0, b1, b2 = _taps(v - j)
        flat[upper] += b0 * a0
        flat[upper + one] += b0 * a1
        flat[upper + two] += b0 * a2
        flat[middle] += b1 * a0
        flat[middle + one] += b1 * a1
        flat[middle + two] += b1 * a2
        flat[lower] += b2 * a0
        flat[lower + one] += b2 * a1
        flat[lower + two] += b2 * a2


@fused
def _spline(distance):
    """Quadratic B-spline, without branches."""
    d = abs(distance)
    wide, narrow = max(1.5 - d, 0.0), max(0.5 - d, 0.0)
    return 0.5 * wide * wide - 1.5 * narrow * narrow


@fused
def _shared(a0, a1, a2, distance):
    """Sum over pixels of the product of two splines, along one axis.

    a0, a1, a2 : weights of the first      distance : from the second to the middle one of its pixels
    """
    return a0 * _spline(distance - 1.0) + a1 * _spline(distance) + a2 * _spline(distance + 1.0)


@fused
def own_of_events(events, own):
    """Sum up what the events of a source put at each other's places and at their own.

    events : Marks      own : (n,) float64, filled
    """
    x, y, source = events.x, events.y, events.source
    for k in range(own.size):
        a0, a1, a2 = _taps(x[k] - np.floor(x[k] + 0.5))
        b0, b1, b2 = _taps(y[k] - np.floor(y[k] + 0.5))
        own[k] = (a0 * a0 + a1 * a1 + a2 * a2) * (b0 * b0 + b1 * b1 + b2 * b2)
    patch = np.empty(_PATCH_PIXELS)
    first = 0
    while first < own.size:
        stop = first + 1
        while stop < own.size and source[stop] == source[first]:
            stop += 1
        is_done = stop - first == 1
        if stop - first > LONG_BURST:
            is_done = _own_by_patch(x, y, first, stop, patch, own)
        if not is_done:
            _add_pairs(x, y, first, stop, own)
        first = stop


@fused
def _add_pairs(x, y, first, stop, own):
    """Compare each event of a source with those before it, as far as they have much in common."""
    for k in range(first + 1, stop):
        i, j = np.floor(x[k] + 0.5), np.floor(y[k] + 0.5)
        a0, a1, a2 = _taps(x[k] - i)
        b0, b1, b2 = _taps(y[k] - j)
        total = 0.0
        for m in range(k - 1, max(k - 1 - MAX_BURST, first - 1), -1):
            # Further away than _REACH nothing is shared. False for NaN too, which does not spread.
            if not (abs(i - x[m]) < _REACH and abs(j - y[m]) < _REACH):
                break
            share = _shared(a0, a1, a2, i - x[m]) * _shared(b0, b1, b2, j - y[m])
            if share < LEAST_SHARE:
                break
            total += share
            own[m] += share
        own[k] += total


@fused
def _own_by_patch(x, y, first, stop, patch, own):
    """Make a small map of the events of a source alone, and read it: linear in their number.

    Returns False if they do not fit on the patch, or are no numbers.
    """
    left = right = np.floor(x[first] + 0.5)
    top = bottom = np.floor(y[first] + 0.5)
    for k in range(first, stop):
        i, j = np.floor(x[k] + 0.5), np.floor(y[k] + 0.5)
        if not (abs(i - left) < patch.size and abs(j - top) < patch.size):
            return False
        left, right, top, bottom = min(left, i), max(right, i), min(top, j), max(bottom, j)
    width, height = int(right - left) + 3, int(bottom - top) + 3
    if width * height > patch.size:
        return False
    patch[: width * height] = 0.0
    for voting in (True, False):
        for k in range(first, stop):
            i, j = np.floor(x[k] + 0.5), np.floor(y[k] + 0.5)
            across, down = _taps(x[k] - i), _taps(y[k] - j)
            corner = int(j - top) * width + int(i - left)
            total = 0.0
            for r in range(3):
                for c in range(3):
                    place, weight = corner + r * width + c, down[r] * across[c]
                    if voting:
                        patch[place] += weight
                    else:
                        total += weight * patch[place]
            own[k] = total
    return True


@fused
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


@fused
def _interpolated(tiles, height, width, u, v):
    """Interpolate between the four tiles around a place; outside, the nearest ones decide.

    tiles : (height * width,) float64: making an array flat in here would take longer than the rest
    """
    u, v = min(max(u, 0.0), width - 1.001), min(max(v, 0.0), height - 1.001)
    i, j = np.uint64(u), np.uint64(v)
    a, b = u - i, v - j
    one, below = np.uint64(1), np.uint64(width)
    corner = j * below + i
    upper = tiles[corner] * (1.0 - a) + tiles[corner + one] * a
    corner += below
    lower = tiles[corner] * (1.0 - a) + tiles[corner + one] * a
    return max(upper * (1.0 - b) + lower * b, LEAST_EXPOSURE)


@fused
def read_support(maps, marks, support):
    """Read the map of its polarity at every mark, less what the own source has put there.

    maps : Maps      marks : Marks
    support : (n,) float64, at first what the own source has put there; then the support per time in
    view, 0 or more, or -1 for a mark off the map
    """
    images, exposure, padding, tiles_per_px = maps
    x, y, source, half = marks.x, marks.y, marks.source, marks.half
    height, width = images.shape[1:]
    flat, tiles = images.reshape(-1), exposure.reshape(-1)
    rows, columns = exposure.shape
    right, bottom = width - 1.5, height - 1.5
    below, one, two = np.uint64(width), np.uint64(1), np.uint64(2)
    for k in range(support.size):
        u, v = x[k] + padding, y[k] + padding
        if not (0.5 <= u < right and 0.5 <= v < bottom):
            support[k] = -1.0
            continue
        i, j = int(u + 0.5), int(v + 0.5)
        upper = np.uint64((j - 1 + (height if source[k] >= half else 0)) * width + i - 1)
        middle, lower = upper + below, upper + below + below
        a0, a1, a2 = _taps(u - i)
        b0, b1, b2 = _taps(v - j)
        total = b0 * (a0 * flat[upper] + a1 * flat[upper + one] + a2 * flat[upper + two])
        total += b1 * (a0 * flat[middle] + a1 * flat[middle + one] + a2 * flat[middle + two])
        total += b2 * (a0 * flat[lower] + a1 * flat[lower + one] + a2 * flat[lower + two])
        total -= support[k]
        across, down = (u + 0.5) * tiles_per_px - 0.5, (v + 0.5) * tiles_per_px - 0.5
        # A product, not a branch: which way it goes is like a toss, and a wrong guess costs more.
        has_any = np.float64(total > LEAST_SUPPORT)
        support[k] = has_any * total / _interpolated(tiles, rows, columns, across, down)


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


@fused
def _readiness(interval, both, chance):
    """How ready a source is, given another event that is signal with some chance.

    interval : time between them, in windows      both : sum of the rates at which the source fires
    at the two places, per window
    """
    share = min(interval * both * (0.5 / READY_AT), 1.0)
    return 1.0 - chance * (1.0 - LEAST_READY) * (1.0 - share * share)


@fused
def follow_pixels(events, support, background, chance, ready):
    """Go through the events of every source, forward and backward in time at once.

    events : Marks      support : (n,) float64      background : (2,) float64, above 0, OFF and ON
    chance : (2, n) float64, filled: that an event is signal, given those before it; after it
    ready : (n,) float64, filled: how ready its source was, before and after, multiplied
    """
    t, source, half = events.t, events.source, events.half
    forward, backward = chance[0], chance[1]
    off, on = background[0], background[1]
    n = support.size
    ready[:] = 1.0
    last_excess = next_excess = last_chance = next_chance = 0.0
    # Both ways in one loop: each step waits for the one before it, and the other way fills the wait.
    for i in range(n):
        rate = on if source[i] >= half else off
        excess = max(support[i] - rate, 0.0)
        factor = 1.0
        if i > 0 and source[i - 1] == source[i]:
            factor = _readiness(t[i] - t[i - 1], excess + last_excess, last_chance)
        ready[i] *= factor
        last_excess, last_chance = excess, excess * factor / (excess * factor + rate)
        forward[i] = last_chance

        k = n - 1 - i
        rate = on if source[k] >= half else off
        excess = max(support[k] - rate, 0.0)
        factor = 1.0
        if i > 0 and source[k + 1] == source[k]:
            factor = _readiness(t[k + 1] - t[k], excess + next_excess, next_chance)
        ready[k] *= factor
        next_excess, next_chance = excess, excess * factor / (excess * factor + rate)
        backward[k] = next_chance


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


@fused
def weigh(support, marks, background, ready):
    """Turn support into evidence: what is above the background, times the readiness.

    support : (n,) float64, overwritten      marks : Marks      background : (2,) float64
    ready : (n,) float64
    """
    source, half = marks.source, marks.half
    for k in range(support.size):
        excess = support[k] - background[1 if source[k] >= half else 0]
        support[k] = excess * ready[k] if excess > 0.0 else excess


@fused
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


@summing
def mask_maps(images, background, threshold, w_map, sums):
    """Weigh the maps of both polarities by their confidence, and add them up.

    images : (2, h, w) float64      background : (2,) float64      threshold : float64, above 0
    w_map : (h, w) float64, filled: the confidence W of both maps together
    sums : (6,) float64, filled, over pixels: M, M^2, W M, (W M)^2, W, (W M - M)^2
    """
    limit = 0.5 * threshold * threshold
    off, on, w = images[0].reshape(-1), images[1].reshape(-1), w_map.reshape(-1)
    rate_off, rate_on = background[0], background[1]
    m1 = m2 = k1 = k2 = w1 = loss = 0.0
    # No branch, so that the compiler takes several pixels at a time.
    for c in range(w.size):
        total = off[c] + on[c]
        above_off, above_on = max(off[c] - rate_off, 0.0), max(on[c] - rate_on, 0.0)
        square_off, square_on = above_off * above_off, above_on * above_on
        kept_off = off[c] * (1.0 - limit / square_off) if square_off > limit else 0.0
        kept_on = on[c] * (1.0 - limit / square_on) if square_on > limit else 0.0
        kept = kept_off + kept_on
        w[c] = kept / total if kept > 0.0 else 0.0
        m1 += total
        m2 += total * total
        k1 += kept
        k2 += kept * kept
        w1 += w[c]
        loss += (kept - total) * (kept - total)
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5] = m1, m2, k1, k2, w1, loss


@fused
def add_up_still(x, y, voting, counts, sums):
    """Sum up the map of events where they are, and its square, over the pixels of the map.

    On whole pixels the footprint is (1, 6, 1) / 8 along each axis, so the map is a blur of counts.

    x, y : (n,) uint16      voting : (n,) bool
    counts : (h + 2, w + 2) float64, overwritten      sums : (2,) float64, filled: M, M^2
    """
    flat = counts.reshape(-1)
    flat[:] = 0.0
    height, width = counts.shape
    row = np.uint64(width)
    total = 0.0
    for k in range(x.size):
        if voting[k]:
            flat[(np.uint64(y[k]) + np.uint64(1)) * row + np.uint64(x[k]) + np.uint64(1)] += 1.0
            total += 1.0
    line, empty = np.empty(width), np.zeros(width)
    square = 0.0
    for r in range(height):
        above = counts[r - 1] if r > 0 else empty
        here = counts[r]
        beneath = counts[r + 1] if r < height - 1 else empty
        for c in range(width):
            line[c] = 0.75 * here[c] + 0.125 * (above[c] + beneath[c])
        square += _square_of_blurred(line)
    sums[0] = total
    sums[1] = square


@summing
def _square_of_blurred(line):
    """Sum of squares of a line blurred by (1, 6, 1) / 8; its ends are zero."""
    total = 0.0
    for c in range(1, line.size - 1):
        value = 0.75 * line[c] + 0.125 * (line[c - 1] + line[c + 1])
        total += value * value
    first, last = 0.125 * line[1], 0.125 * line[line.size - 2]
    return total + first * first + last * last
