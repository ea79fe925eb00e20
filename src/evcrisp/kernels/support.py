"""Support of an event by others of its polarity, and what its own pixel says about it.

A mark is an event, or a place where noise might have put one (a probe). All links are indices of
events of the same pixel and polarity as the mark; -1 where there is none.
"""

from typing import NamedTuple

from evcrisp.kernels import njit

#: Most events of its own pixel that are kept from supporting an event, on each side in time.
MAX_BURST = 64

#: What an event adds further away than this is nothing.
LEAST_SHARE = 1e-3

#: Support below this is none: less than one event gives at a distance of 2 px.
LEAST_SUPPORT = 5e-3

#: How many events a pixel looks back at, in case that the last ones were noise.
MAX_LOOK = 4

#: Events expected since the last one of a pixel, after which it is ready for another one. With an
#: even contrast threshold it would be 1; the map, blurred, shows less than there is on an edge.
READY_AT = 0.6

#: How ready a pixel is at once after an event, compared with one that is ready.
LEAST_READY = 0.05


class Pixels(NamedTuple):
    """Pixels, times and polarities, sorted by time; all arrays have shape (n,)."""

    x: object  # uint16
    y: object  # uint16
    t: object  # float64, in windows
    p: object  # uint8, 0 or 1


class Links(NamedTuple):
    """Neighbors in time; both arrays have shape (n,)."""

    before: object  # int64, the last event of the pixel and polarity before it
    after: object  # int64, the first one after it


class Places(NamedTuple):
    """Aligned places; both arrays have shape (n,)."""

    u: object  # float64, px of the map
    v: object  # float64, px of the map


@njit
def link_events(events, table, before, after):
    """Find the neighbors in time of every event.

    events : Pixels      table : (2, h, w) int64, all -1; overwritten
    before, after : (n,) int64, filled
    """
    for k in range(events.t.size):
        p, y, x = events.p[k], events.y[k], events.x[k]
        earlier = table[p, y, x]
        before[k] = earlier
        after[k] = -1
        if earlier >= 0:
            after[earlier] = k
        table[p, y, x] = k


@njit
def link_probes(probes, events, table, backward, link):
    """Find the last event before every probe, or with `backward` the first one after it.

    probes, events : Pixels      table : (2, h, w) int64, all -1; overwritten
    backward : bool      link : (n,) int64, filled
    """
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
def vote_by_polarity(u, v, p, keep, images):
    """Add every event that is kept to the map of its polarity, as a quadratic B-spline.

    u, v : (n,) float64, px of the map      p : (n,) uint8      keep : (n,) bool
    images : (2, h, w) float64, updated in place
    """
    height, width = images.shape[1:]
    for k in range(u.size):
        if not (keep[k] and 0.5 <= u[k] < width - 1.5 and 0.5 <= v[k] < height - 1.5):
            continue
        image = images[p[k]]
        i, j = int(u[k] + 0.5), int(v[k] + 0.5)
        a0, a1, a2 = _taps(u[k] - i)
        b0, b1, b2 = _taps(v[k] - j)
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
    """Sum over pixels of the product of two splines at positions a and b; a is at least 0.5."""
    if not -3.0 < a - b < 3.0:
        return 0.0
    i, j = int(a + 0.5), int(b + 0.5)
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
def own_of_events(places, before, own):
    """Sum up what the events of a pixel, one polarity, put at each other's places.

    places : Places      before : (n,) int64      own : (n,) float64, filled
    """
    u, v = places.u, places.v
    for k in range(u.size):
        own[k] = 0.0
        if not (u[k] >= 0.5 and v[k] >= 0.5):
            continue
        own[k] = _overlap(u[k], u[k]) * _overlap(v[k], v[k])
        j = before[k]
        for _ in range(MAX_BURST):
            if j < 0:
                break
            share = _overlap(u[k], u[j]) * _overlap(v[k], v[j])
            if share < LEAST_SHARE:
                break
            own[k] += share
            own[j] += share
            j = before[j]


@njit
def own_of_probes(places, links, event_places, event_links, own):
    """Sum up what the events of its pixel, one polarity, put at the place of a probe.

    places, links : of the probes      event_places, event_links : of the events
    own : (n,) float64, filled
    """
    for k in range(own.size):
        u, v = places.u[k], places.v[k]
        own[k] = 0.0
        if not (u >= 0.5 and v >= 0.5):
            continue
        for back in (True, False):
            j = links.before[k] if back else links.after[k]
            for _ in range(MAX_BURST):
                if j < 0:
                    break
                share = _overlap(u, event_places.u[j]) * _overlap(v, event_places.v[j])
                if share < LEAST_SHARE:
                    break
                own[k] += share
                j = event_links.before[j] if back else event_links.after[j]


@njit
def read_support(images, places, p, own, support):
    """Read the map of its polarity at every place, less what the own pixel has put there.

    images : (2, h, w) float64, from `vote_by_polarity`      places : Places      p : (n,) uint8
    own : (n,) float64      support : (n,) float64, filled, 0 or more; -1 for a place off the map
    """
    height, width = images.shape[1:]
    for k in range(p.size):
        u, v = places.u[k], places.v[k]
        support[k] = -1.0
        # The comparison is false for NaN too, so nothing that is not a number becomes an index.
        if not (0.5 <= u < width - 1.5 and 0.5 <= v < height - 1.5):
            continue
        image = images[p[k]]
        i, j = int(u + 0.5), int(v + 0.5)
        a0, a1, a2 = _taps(u - i)
        b0, b1, b2 = _taps(v - j)
        total = b0 * (a0 * image[j - 1, i - 1] + a1 * image[j - 1, i] + a2 * image[j - 1, i + 1])
        total += b1 * (a0 * image[j, i - 1] + a1 * image[j, i] + a2 * image[j, i + 1])
        total += b2 * (a0 * image[j + 1, i - 1] + a1 * image[j + 1, i] + a2 * image[j + 1, i + 1])
        total -= own[k]
        support[k] = total if total > LEAST_SUPPORT else 0.0


@njit
def _readiness(t, excess, j, link, event_t, event_excess, chance):
    """How ready a pixel is at time t, over all the ways in which its events may be noise."""
    ready, rest = 0.0, 1.0
    for _ in range(MAX_LOOK):
        if j < 0:
            break
        share = abs(t - event_t[j]) * (excess + event_excess[j]) * (0.5 / READY_AT)
        if share >= 1.0:
            break
        ready += rest * chance[j] * (LEAST_READY + (1.0 - LEAST_READY) * share * share)
        rest *= 1.0 - chance[j]
        j = link[j]
    return ready + rest


@njit
def follow_pixels(t, p, excess, link, backward, background, chance, ready):
    """Go through the events of every pixel in one direction of time.

    t, excess : (n,) float64      p : (n,) uint8      link : (n,) int64, before or after
    backward : bool, True to go from the last event to the first, for link = after
    background : (2,) float64, above 0      chance : (n,) float64, filled: that an event is signal,
    given all that lie behind it      ready : (n,) float64, filled: how ready its pixel was
    """
    n = t.size
    for i in range(n):
        k = n - 1 - i if backward else i
        ready[k] = _readiness(t[k], excess[k], link[k], link, t, excess, chance)
        rate = excess[k] * ready[k]
        chance[k] = rate / (rate + background[p[k]])


@njit
def look_at_pixels(t, excess, start, link, event_t, event_excess, chance, ready):
    """How ready the pixels of probes are, given what `follow_pixels` found out about the events.

    t, excess : (n,) float64, of the probes      start : (n,) int64, before or after of the probes
    link, event_t, event_excess, chance : of the events      ready : (n,) float64, filled
    """
    for k in range(t.size):
        ready[k] = _readiness(t[k], excess[k], start[k], link, event_t, event_excess, chance)


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
def mask_maps(maps, background, threshold, w_map, masked):
    """Weigh the maps of both polarities by their confidence, and add them up.

    maps : (2, h, w) float64      background : (2,) float64      threshold : float64, above 0
    w_map, masked : (h, w) float64, filled: the confidence of both together, and W o M
    """
    height, width = w_map.shape
    limit = 0.5 * threshold * threshold
    for r in range(height):
        for c in range(width):
            total, kept = 0.0, 0.0
            for q in range(2):
                value = maps[q, r, c]
                excess = value - background[q]
                total += value
                if excess > 0.0 and excess * excess > limit:
                    kept += value * (1.0 - limit / (excess * excess))
            masked[r, c] = kept
            w_map[r, c] = kept / total if kept > 0.0 else 0.0
