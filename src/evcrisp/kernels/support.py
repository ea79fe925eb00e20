"""Support of an event by others of its polarity, and what its own pixel says about it.

Marks are events, or places where noise might have put one: probes. A source is a pixel and a
polarity, as the number (p * height + y) * width + x; the first half of the numbers is OFF. Events are
sorted by source, and by time within, so that the events of a pixel lie side by side, and what is read
of the maps was mostly read just before. Positions are aligned, in px of the sensor; a map has a
border around it.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels import fused, njit

#: More events of a source than this are put on a small map of their own instead of being compared
#: one by one. Where that does not fit, so many on each side in time are kept from supporting an event.
LONG_BURST = 16

#: As many for a probe, which has no map.
MOST_OWN = 64
_PATCH_PIXELS = 4096

#: Pairs that are looked at together, so that all of them stay in the cache.
_BLOCK = 2048

#: What an event adds further away than this is nothing.
LEAST_SHARE = 1e-3

#: Support below this is none: less than one event gives at a distance of 2 px.
LEAST_SUPPORT = 5e-3

#: Places that were in view for a shorter share of the window are treated as if it were this.
LEAST_EXPOSURE = 0.1


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
def sort_by_source(x, y, p, height, width, keys, order, source):
    """Sort events by their source; those of one source stay in the order of time.

    By the lower half of the bits first, then by the upper half: a count of every source would touch
    more memory than the events do.

    x, y : (n,) uint16      p : (n,) uint8      height, width : int64, of the sensor
    keys : (n,) int64, scratch      order, source : (n,) int32, filled: index and source, sorted
    """
    bits = 1
    while 1 << (2 * bits) < 2 * height * width:
        bits += 1
    mask = (1 << bits) - 1
    lower, upper = np.zeros(1 << bits, np.int32), np.zeros(1 << bits, np.int32)
    for k in range(x.size):
        s = (np.int64(p[k]) * height + y[k]) * width + x[k]
        lower[s & mask] += 1
        upper[s >> bits] += 1
    _start_of_each(lower)
    _start_of_each(upper)
    for k in range(x.size):
        s = (np.int64(p[k]) * height + y[k]) * width + x[k]
        place = lower[s & mask]
        lower[s & mask] = place + 1
        keys[place] = s << 32 | k
    for i in range(x.size):
        s = keys[i] >> 32
        place = upper[s >> bits]
        upper[s >> bits] = place + 1
        order[place] = keys[i] & 0xFFFFFFFF
        source[place] = s


@njit
def _start_of_each(counts):
    """Turn counts into where each of them starts."""
    total = 0
    for i in range(counts.size):
        n = counts[i]
        counts[i] = total
        total += n


@njit
def take(values, order, scale, out):
    """Bring values of events into another order: out[i] = scale values[order[i]]."""
    for i in range(order.size):
        out[i] = scale * values[order[i]]


@njit
def find_probes(source, t, event_source, event_t, place):
    """Find where probes would stand among the sorted events: just before event place[k].

    source : (n,) int32, sorted      t : (n,) float64      event_source, event_t : of the events
    place : (n,) int32, filled
    """
    first = 0
    for k in range(t.size):
        while first < event_t.size and event_source[first] < source[k]:
            first += 1
        last = first
        while last < event_t.size and event_source[last] == source[k] and event_t[last] <= t[k]:
            last += 1
        place[k] = last


@fused
def _taps(a):
    """Weights of a quadratic B-spline on three pixels, at offset a in -0.5..0.5 from the middle."""
    first, middle = 0.5 * (0.5 - a) * (0.5 - a), 0.75 - a * a
    return first, middle, 1.0 - first - middle


@njit
def part_by_polarity(cell, p, keep, n_pixels):
    """Move ON events to the second map, which lies behind the first; take others off the map.

    cell : (n,) integers, from `spline.locate`; changed      p : (n,) uint8      keep : (n,) bool
    n_pixels : int64, of one map
    """
    for k in range(cell.size):
        cell[k] = cell[k] + np.int64(p[k]) * n_pixels if keep[k] and cell[k] >= 0 else -1


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
    pairs, patch = np.empty(_BLOCK, np.int64), np.empty(_PATCH_PIXELS)
    first, k = 0, 1
    while k < own.size:
        n_pairs = 0
        while k < own.size and n_pairs < _BLOCK:
            first = first if source[k] == source[k - 1] else k
            pairs[n_pairs] = k
            n_pairs += first < k
            k += 1
            if k - first == LONG_BURST + 1:
                stop = k
                while stop < own.size and source[stop] == source[first]:
                    stop += 1
                if _own_by_patch(x, y, first, stop, patch, own):
                    # The pairs of this burst that came with the block before were for nothing.
                    n_pairs = max(n_pairs - LONG_BURST, 0)
                    k = stop
        _add_shares(x, y, source, pairs, n_pairs, own)


@fused
def _add_shares(x, y, source, pairs, n_pairs, own):
    """Add up what events put at the places of the events before them, and the other way round.

    First all with the one before them, then those that still have much in common with the one before
    that. A list of pairs, not a loop per event: how long that one goes on is a toss.
    """
    lag = 1
    while n_pairs > 0 and lag <= LONG_BURST:
        n_left = 0
        for q in range(n_pairs):
            k = pairs[q]
            m = k - lag
            i, j = np.floor(x[k] + 0.5), np.floor(y[k] + 0.5)
            share = _shared(*_taps(x[k] - i), i - x[m]) * _shared(*_taps(y[k] - j), j - y[m])
            # False for NaN, which does not spread.
            share = share if share >= LEAST_SHARE else 0.0
            own[k] += share
            own[m] += share
            pairs[n_left] = k
            n_left += (share > 0.0) & (m > 0) & (source[max(m - 1, 0)] == source[k])
        n_pairs = n_left
        lag += 1


@fused
def _own_by_patch(x, y, first, stop, patch, own):
    """Make a small map of the events of a source alone, and read it: linear in their number.

    Returns False if they do not fit on the patch, or are no numbers; all stays as it was then.
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
            for _ in range(MOST_OWN):
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
