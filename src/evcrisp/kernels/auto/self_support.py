"""Self-support: contrast at an event that comes from events of its own source.

A source is a pixel and a polarity, as the number (p * height + y) * width + x. Every event is linked to
the previous and next event of its source. Events stay in the order of time, without sorting. A loop over
events follows links of different sources in turn, so that no step waits for the one before.

Of n events, the index n means none; arrays that are indexed by links have one more element for it.
Positions may have single or double precision.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels.compile import finite, njit
from evcrisp.kernels.contrast.spline import taps

#: Sources with more events get a small map of their own instead of a comparison pair by pair. If the
#: map does not fit, self-support covers this many events before and after in time.
LONG_BURST = 16

#: The same number for a noise sample, which has no map.
MAX_SAME_PIXEL = 64
_PATCH_PIXELS = 4096

#: Events per block, so that all of their pairs stay in the cache.
_BLOCK = 1024

#: Smaller overlaps of two footprints count as zero.
LEAST_SHARE = np.float32(1e-3)

#: Single precision: products keep the precision of the positions.
_ZERO, _HALF, _ONE, _REACH = (np.float32(c) for c in (0.0, 0.5, 1.0, 1.5))


class Links(NamedTuple):
    """Links between events of a source."""

    before: np.ndarray  # (n + 1,) int32, the event before; n if there is none
    after: np.ndarray  # (n + 1,) int32, the event after
    rank: np.ndarray  # (n + 1,) int32, 1 for the first event of a source, 2 for its second; 0 at n
    last: np.ndarray  # (2 * height * width,) int32, the last event of every source


@njit
def link_events(x, y, p, height, width, links):
    """Link every event to those of its source before and after it.

    x, y : (n,) uint16      p : (n,) uint8      height, width : int64, of the sensor
    links : Links, filled
    """
    before, after, rank, last = links
    none = x.size
    last[:] = none
    before[none] = none
    rank[none] = 0
    rows, columns = np.uint64(height), np.uint64(width)
    for k in range(x.size):
        # Unsigned indices spare the check for negative ones.
        source = (np.uint64(p[k]) * rows + np.uint64(y[k])) * columns + np.uint64(x[k])
        m = np.uint64(last[source])
        last[source] = k
        before[k] = m
        after[k] = none
        after[m] = k
        rank[k] = rank[m] + 1
    after[none] = none


@njit
def link_samples(source, t, event_t, links, before, after):
    """Find the events of the same source before and after noise samples.

    source : (m,) int32      t : (m,) floats      event_t : (n + 1,) floats
    before, after : (m,) int32, filled
    """
    none = event_t.size - 1
    for k in range(t.size):
        later, m = none, links.last[source[k]]
        while m != none and event_t[m] > t[k]:
            later, m = m, links.before[m]
        before[k] = m
        after[k] = later


@finite
def _spline(distance):
    """Quadratic B-spline, without branches."""
    d = abs(distance)
    wide, narrow = max(_REACH - d, _ZERO), max(_HALF - d, _ZERO)
    return _HALF * wide * wide - _REACH * narrow * narrow


@finite
def _shared(a, distance):
    """Sum over pixels of the product of two splines, along one axis.

    a : offset of the first within its pixel      distance : from the second to that pixel
    """
    a0, a1, a2 = taps(a)
    return a0 * _spline(distance - _ONE) + a1 * _spline(distance) + a2 * _spline(distance + _ONE)


@finite
def _shares(a, b, across, down, n, share):
    """Fill in the overlaps of pairs of footprints; a loop that vectorizes."""
    for q in range(n):
        both = _shared(a[q], across[q]) * _shared(b[q], down[q])
        share[q] = both if both >= LEAST_SHARE else _ZERO


@finite
def self_support_of_events(points, links, own):
    """Sum the contrast that events of one source add at each other, themselves included.

    points : MapPoints      links : Links      own : (n,) floats, filled
    """
    a, b = points.a, points.b
    for k in range(own.size):
        a0, a1, a2 = taps(a[k])
        b0, b1, b2 = taps(b[k])
        own[k] = (a0 * a0 + a1 * a1 + a2 * a2) * (b0 * b0 + b1 * b1 + b2 * b2)
    is_known = np.zeros(own.size, np.bool_)
    _add_bursts(points, links, own, is_known)
    _add_pairs(points, links, is_known, own)


@finite
def _add_pairs(points, links, is_known, own):
    """Add the overlaps of events with earlier events of their source, for both.

    First with the previous event, then, while footprints still overlap, with the one before that.
    A list of pairs instead of a loop per event, whose length branch prediction cannot guess.
    """
    x, y, a, b, before = points.x, points.y, points.a, points.b, links.before
    none = own.size
    later, earlier = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.int32)
    inside_x, inside_y = np.empty(_BLOCK, a.dtype), np.empty(_BLOCK, a.dtype)
    across, down = np.empty(_BLOCK, a.dtype), np.empty(_BLOCK, a.dtype)
    share = np.empty(_BLOCK, a.dtype)
    for first in range(0, none, _BLOCK):
        n_pairs = 0
        for k in range(first, min(first + _BLOCK, none)):
            later[n_pairs], earlier[n_pairs] = k, before[k]
            n_pairs += (before[k] < none) & (not is_known[k])
        lag = 0
        while n_pairs > 0 and lag < LONG_BURST:
            for q in range(n_pairs):
                k, m = np.uint32(later[q]), np.uint32(earlier[q])
                inside_x[q], inside_y[q] = a[k], b[k]
                across[q], down[q] = x[k] - a[k] - x[m], y[k] - b[k] - y[m]
            _shares(inside_x, inside_y, across, down, n_pairs, share)
            n_left = 0
            for q in range(n_pairs):
                k, m = np.uint32(later[q]), np.uint32(earlier[q])
                own[k] += share[q]
                own[m] += share[q]
                later[n_left], earlier[n_left] = k, before[m]
                n_left += (share[q] > _ZERO) & (before[m] < none)
            n_pairs = n_left
            lag += 1


@finite
def _add_bursts(points, links, own, is_known):
    """Find the sources with many events, and build a small map of each, in linear time.

    is_known : (n,) bool, False; set for the events of the sources that fit on a map
    """
    none = own.size
    patch = np.empty(_PATCH_PIXELS, own.dtype)
    for k in range(none):
        if links.rank[k] > LONG_BURST and links.after[k] == none:
            width, height, left, top = _extent(points, links.before, k, none)
            if width * height <= patch.size:
                patch[: width * height] = _ZERO
                _vote(points, links.before, k, none, patch, width, left, top)
                _read(points, links.before, k, none, patch, width, left, top, own, is_known)


@finite
def _extent(points, before, last, none):
    """Return width, height, left and top of the map of a source; large if events are far apart."""
    x, y, a, b = points.x, points.y, points.a, points.b
    left = right = x[last] - a[last]
    top = bottom = y[last] - b[last]
    k = last
    while k != none:
        i, j = x[k] - a[k], y[k] - b[k]
        if max(abs(i - left), abs(j - top)) >= _PATCH_PIXELS:
            return _PATCH_PIXELS, 2, left, top
        left, right, top, bottom = min(left, i), max(right, i), min(top, j), max(bottom, j)
        k = before[k]
    return int(right - left + _HALF) + 3, int(bottom - top + _HALF) + 3, left, top


@finite
def _corner(points, k, width, left, top):
    """Return the upper left pixel of an event on a small map; its middle pixel is a whole number."""
    i, j = points.x[k] - points.a[k] - left, points.y[k] - points.b[k] - top
    return int(j + _HALF) * width + int(i + _HALF)


@finite
def _vote(points, before, last, none, patch, width, left, top):
    k = last
    while k != none:
        corner = _corner(points, k, width, left, top)
        across, down = taps(points.a[k]), taps(points.b[k])
        for r in range(3):
            for c in range(3):
                patch[corner + r * width + c] += down[r] * across[c]
        k = before[k]


@finite
def _read(points, before, last, none, patch, width, left, top, own, is_known):
    k = last
    while k != none:
        corner = _corner(points, k, width, left, top)
        across, down = taps(points.a[k]), taps(points.b[k])
        total = _ZERO
        for r in range(3):
            for c in range(3):
                total += down[r] * across[c] * patch[corner + r * width + c]
        own[k] = total
        is_known[k] = True
        k = before[k]


@finite
def self_support_of_samples(samples, before, after, points, links, own):
    """Sum the contrast that the events of its source add at a noise sample.

    samples, points : MapPoints, of noise samples and of events      links : Links
    before, after : (m,) int32, from `link_samples`      own : (m,) floats, filled
    """
    none = points.a.size
    for k in range(own.size):
        total = _ZERO
        for direction in range(2):
            m = before[k] if direction == 0 else after[k]
            for _ in range(MAX_SAME_PIXEL):
                if m == none:
                    break
                across = samples.x[k] - samples.a[k] - points.x[m]
                down = samples.y[k] - samples.b[k] - points.y[m]
                share = _shared(samples.a[k], across) * _shared(samples.b[k], down)
                if not share >= LEAST_SHARE:
                    break
                total += share
                m = links.before[m] if direction == 0 else links.after[m]
        own[k] = total
