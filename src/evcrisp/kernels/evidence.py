"""From support to evidence: the background, how ready a pixel was, and the numbers of a window.

Marks and their order are those of `support`.
"""

import numpy as np

from evcrisp.kernels import compiled, fused, njit

#: Sums may be added in any order too, so that several numbers are taken at a time.
summing = compiled(error_model="numpy", fastmath={"contract", "reassoc"})

#: Events expected since the last one of a pixel, after which it is ready for another one. With an
#: even contrast threshold it would be 1; the map, blurred, shows less than there is on an edge.
READY_AT = 0.6

#: How ready a pixel is at once after an event, compared with one that is ready.
LEAST_READY = 0.05


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
