"""Support of an event by others of its polarity, and what its own pixel says about it."""

from evcrisp.kernels import njit

#: A pixel that fires more often than this, one polarity, within the reach of a footprint, is hot.
MAX_BURST = 64


@njit
def link_pixels(x, y, p, last, before, after):
    """Find the earlier and the later event of the same pixel and polarity; -1 where there is none.

    x, y : (n,) uint16      p : (n,) uint8, 0 or 1      last : (2, h, w) int64, all -1, overwritten
    before, after : (n,) int64, filled
    """
    for k in range(x.size):
        after[k] = -1
        earlier = last[p[k], y[k], x[k]]
        before[k] = earlier
        if earlier >= 0:
            after[earlier] = k
        last[p[k], y[k], x[k]] = k


@njit
def _taps(a):
    """Weights of a quadratic B-spline on three pixels, at offset a in -0.5..0.5 from the middle."""
    return 0.5 * (0.5 - a) ** 2, 0.75 - a * a, 0.5 * (0.5 + a) ** 2


@njit
def _overlap(a, b):
    """Sum over pixels of the product of two splines at positions a and b, both at least 0.5."""
    i, j = int(a + 0.5), int(b + 0.5)
    d = j - i
    if d < -2 or d > 2:
        return 0.0
    a0, a1, a2 = _taps(a - i)
    b0, b1, b2 = _taps(b - j)
    if d == 0:
        return a0 * b0 + a1 * b1 + a2 * b2
    if d == 1:
        return a1 * b0 + a2 * b1
    if d == -1:
        return a0 * b1 + a1 * b2
    if d == 2:
        return a2 * b0
    return a0 * b2


@njit
def _support_by_pixel(k, u, v, link):
    """What later (or earlier) events of its own pixel add at event k; -1 for a hot pixel."""
    total = 0.0
    j = link[k]
    for _ in range(MAX_BURST):
        if j < 0:
            return total
        across, down = _overlap(u[k], u[j]), _overlap(v[k], v[j])
        if across == 0.0 or down == 0.0:
            return total
        total += across * down
        j = link[j]
    return -1.0


@njit
def support_by_others(images, u, v, p, before, after, support):
    """Read an event's own polarity at its place, without what its own pixel put there.

    images : (2, h, w) float64, built with splines and not blurred      u, v : (n,) float64, px of
    the map      p : (n,) uint8      before, after : (n,) int64, see `link_pixels`
    support : (n,) float64, filled; -1 where the event is not on the map
    """
    height, width = images.shape[1:]
    for k in range(u.size):
        support[k] = -1.0
        if not (0.5 <= u[k] < width - 1.5 and 0.5 <= v[k] < height - 1.5):
            continue
        image = images[p[k]]
        i, j = int(u[k] + 0.5), int(v[k] + 0.5)
        a0, a1, a2 = _taps(u[k] - i)
        b0, b1, b2 = _taps(v[k] - j)
        total = b0 * (a0 * image[j - 1, i - 1] + a1 * image[j - 1, i] + a2 * image[j - 1, i + 1])
        total += b1 * (a0 * image[j, i - 1] + a1 * image[j, i] + a2 * image[j, i + 1])
        total += b2 * (a0 * image[j + 1, i - 1] + a1 * image[j + 1, i] + a2 * image[j + 1, i + 1])
        total -= (a0 * a0 + a1 * a1 + a2 * a2) * (b0 * b0 + b1 * b1 + b2 * b2)
        earlier = _support_by_pixel(k, u, v, before)
        later = _support_by_pixel(k, u, v, after)
        if earlier < 0.0 or later < 0.0:
            support[k] = 0.0
        else:
            support[k] = max(0.0, total - earlier - later)


@njit
def _recovered(k, j, t, support, background, least, whole):
    """How ready a pixel is for event k, given its event j; 1 for fully."""
    if j < 0:
        return 1.0
    expected = 0.5 * abs(t[k] - t[j]) * (support[k] + support[j])
    ready = least + (1.0 - least) * min(1.0, expected / whole)
    is_signal = support[j] / (support[j] + background)
    return 1.0 - is_signal * (1.0 - ready)


@njit
def recover(t, p, support, before, after, background, least, whole, out):
    """Multiply the support by how ready the pixel was, looking back and ahead in time.

    t : (n,) float64, in windows      p : (n,) uint8      support : (n,) float64
    before, after : (n,) int64      background : (2,) float64, noise per px and polarity, above 0
    least : float64, readiness right after an event      whole : float64, events expected since the
    last one at which the pixel is ready      out : (n,) float64, filled
    """
    for k in range(t.size):
        rate = background[p[k]]
        back = _recovered(k, before[k], t, support, rate, least, whole)
        ahead = _recovered(k, after[k], t, support, rate, least, whole)
        out[k] = support[k] * back * ahead
