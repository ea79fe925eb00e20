"""From support to evidence: background, readiness, labels, and sums for the joint objectives.

Arrays may have single or double precision.
"""

import numpy as np

from evcrisp.kernels.compile import accumulating, fused, njit
from evcrisp.kernels.contrast.spline import accumulate_at

#: Single precision: products keep the precision of the arrays.
_ZERO, _HALF, _ONE, _MIDDLE, _SIDE = (np.float32(c) for c in (0.0, 0.5, 1.0, 0.75, 0.125))
_PER_HALF, _LOST = np.float32(0.5 / 0.6), np.float32(0.95)

#: Expected events since the last one of a pixel at which it is ready again: 0.6. With a uniform contrast
#: threshold it would be 1, but the blurred map shows less than the rate on an edge.
READY_AT = 0.5 / float(_PER_HALF)

#: Readiness of a pixel immediately after an event: 0.05.
LEAST_READY = 1.0 - float(_LOST)


@njit
def count_quiet(support, p, quiet, counts):
    """Count the events of each polarity, OFF and ON, with support of at most `quiet`.

    support : (n,) floats    p : (n,) uint8    quiet : (2,) floats    counts : (2,) int64, filled
    """
    off, on = quiet[0], quiet[1]
    n_off = n_on = 0
    for k in range(support.size):
        n_off += (p[k] == 0) & (support[k] <= off)
        n_on += (p[k] != 0) & (support[k] <= on)
    counts[0], counts[1] = n_off, n_on


@fused
def _readiness(interval, both, chance):
    """Return the readiness of a source, given another event that is signal with a probability.

    interval : time between them, in windows      both : sum of the rates at which the source fires
    at the two positions, per window
    """
    share = min(interval * both * _PER_HALF, _ONE)
    return _ONE - chance * _LOST * (_ONE - share * share)


@fused
def forward_backward_readiness(t, p, links, support, rates, excess, chance, ready):
    """Compute readiness and probability of signal, forward and backward in time.

    t : (n + 1,) floats, in windows      p : (n,) uint8      links : Links      support : (n,) floats
    rates : (2,) floats, above 0, of noise, OFF and ON
    excess : (n + 1,) floats, filled: support above that rate
    chance : (2, n + 1) floats, filled: probability of signal given the events before; after
    ready : (n,) floats, filled: readiness before times readiness after
    """
    forward, backward, before, after = chance[0], chance[1], links.before, links.after
    off, on = rates[0], rates[1]
    none = support.size
    for k in range(none):
        excess[k] = max(support[k] - (on if p[k] != 0 else off), _ZERO)
        ready[k] = _ONE
    # The element for none has probability 0, and so no influence.
    t[none] = excess[none] = forward[none] = backward[none] = _ZERO
    # Both directions in one loop: one computes while the other waits for memory.
    for i in range(none):
        m = np.uint64(before[i])
        factor = _readiness(t[i] - t[m], excess[i] + excess[m], forward[m])
        rate = excess[i] * factor
        ready[i] *= factor
        forward[i] = rate / (rate + (on if p[i] != 0 else off))

        k = none - 1 - i
        m = np.uint64(after[k])
        factor = _readiness(t[m] - t[k], excess[k] + excess[m], backward[m])
        rate = excess[k] * factor
        ready[k] *= factor
        backward[k] = rate / (rate + (on if p[k] != 0 else off))


@fused
def readiness_of_samples(samples, before, after, support, t, rates, excess, chance, ready):
    """Compute the readiness of noise samples from that of the events.

    samples : MapPoints      before, after : (m,) int32, from `link_samples`      support : (m,) floats
    t, rates, excess, chance : as in `forward_backward_readiness`      ready : (m,) floats, of the samples, filled
    """
    for k in range(ready.size):
        here = max(support[k] - rates[1 if samples.p[k] != 0 else 0], _ZERO)
        m, n = before[k], after[k]
        ready[k] = _readiness(samples.t[k] - t[m], here + excess[m], chance[0, m])
        ready[k] *= _readiness(t[n] - samples.t[k], here + excess[n], chance[1, n])


@fused
def evidence_from_support(support, p, rates, ready):
    """Turn support into evidence: support above the background, times readiness.

    support : (n,) floats, overwritten      p : (n,) uint8      rates : (2,) floats
    ready : (n,) floats
    """
    off, on = rates[0], rates[1]
    for k in range(support.size):
        excess = support[k] - (on if p[k] != 0 else off)
        support[k] = excess * ready[k] if excess > _ZERO else excess


@fused
def score_and_label(evidence, threshold, score, confidence, signal):
    """Turn evidence into score, confidence and label.

    evidence : (n,) floats      threshold : float64, above 0
    score, confidence : (n,) float64, filled      signal : (n,) bool, filled
    """
    for k in range(score.size):
        relative = evidence[k] / threshold
        score[k] = relative
        signal[k] = relative > 1.0
        square = relative * relative
        confidence[k] = 1.0 - 0.5 / square if relative > 0.0 and square > 0.5 else 0.0


@fused
def accumulate_confidence(cell, a, b, confidence, supporting, out):
    """Fill the map out : (h, w) with the footprints of all events, times their confidence.

    cell, a, b : (n,), as in `MapPoints`, of both polarities      confidence : (n,) float64
    supporting : (n,) bool, events that are on the maps
    """
    flat, width = out.reshape(-1), np.uint64(out.shape[1])
    n_pixels = flat.size
    flat[:] = _ZERO
    for k in range(cell.size):
        # Events without confidence add nothing: a branch for them would be unpredictable.
        if cell[k] >= 0 and supporting[k]:
            # The map of ON lies behind that of OFF.
            at = cell[k] - n_pixels if cell[k] >= n_pixels else cell[k]
            accumulate_at(flat, np.uint64(at), width, a[k], b[k], np.float32(confidence[k]))


@fused
def weight_maps(images, kept, w_map, sums):
    """Divide the map of confidence by the map of events, and sum.

    images : (2, h, w) floats, OFF and ON      kept : (h, w) floats, from `accumulate_confidence`
    w_map : (h, w) floats, filled: W, so that W o M is the map of confidence
    sums : (6,) float64, filled, over pixels: M, M^2, W M, (W M)^2, W, (W M - M)^2
    """
    sums[:] = 0.0
    for y in range(w_map.shape[0]):
        # Single precision only for the sums of a row.
        row = _weight_row(images[0, y], images[1, y], kept[y], w_map[y])
        for i in range(6):
            sums[i] += row[i]


@accumulating
def _weight_row(off, on, kept, w):
    """Weight a row without branches, so that it vectorizes."""
    m1 = m2 = k1 = k2 = w1 = loss = _ZERO
    for c in range(w.size):
        total = off[c] + on[c]
        # Rounding may exceed the whole by a little.
        part = min(kept[c], total)
        share = part / total if part > _ZERO else _ZERO
        w[c] = share
        m1 += total
        m2 += total * total
        k1 += part
        k2 += part * part
        w1 += share
        loss += (part - total) * (part - total)
    return m1, m2, k1, k2, w1, loss


@fused
def unaligned_map_sums(counts, sums):
    """Sum the unaligned map and its square over the pixels.

    On whole pixels the footprint is (1, 6, 1) / 8 along each axis, so the map is a blur of counts.

    counts : (h, w) floats, events of every pixel      sums : (2,) float64, filled: M, M^2
    """
    height, width = counts.shape
    # The map is one pixel larger on each side; beyond it there are zeros.
    line, empty = np.zeros(width + 4, counts.dtype), np.zeros(width, counts.dtype)
    total = square = 0.0
    for r in range(-1, height + 1):
        above = counts[r - 1] if r > 0 else empty
        here = counts[r] if 0 <= r < height else empty
        beneath = counts[r + 1] if r < height - 1 else empty
        total += _blur_rows(above, here, beneath, line[2 : width + 2])
        square += _blurred_square_sum(line)
    sums[0] = total
    sums[1] = square


@accumulating
def _blur_rows(above, here, beneath, line):
    """Blur three rows to one by (1, 6, 1) / 8; return the sum of the middle one."""
    total = _ZERO
    for c in range(line.size):
        line[c] = _MIDDLE * here[c] + _SIDE * (above[c] + beneath[c])
        total += here[c]
    return total


@accumulating
def _blurred_square_sum(line):
    """Sum of squares of a row blurred by (1, 6, 1) / 8; both of its ends are two zeros."""
    total = _ZERO
    for c in range(1, line.size - 1):
        value = _MIDDLE * line[c] + _SIDE * (line[c - 1] + line[c + 1])
        total += value * value
    return total
