"""Slow and obvious version of the support by the eight neighbors in space and time."""

from evcrisp.kernels.auto.short_evidence import ACROSS, BESIDE


def _nearest(x, y, p, events):
    """Return the times of the events of the polarity p at each of the eight pixels around a place."""
    times = {}
    for other_x, other_y, other_t, other_p in events:
        away = abs(other_x - x), abs(other_y - y)
        if other_p == p and max(away) == 1:
            times.setdefault((other_x, other_y), []).append(other_t)
    return times


def short_evidence(events, readers, reach, near):
    """Return support, near contrast and near neighbors of readers; lists of (x, y, t, p)."""
    support, contrast, number = [], [], []
    for x, y, t, p in readers:
        total = close = 0.0
        n_close = 0
        for (other_x, other_y), times in _nearest(x, y, p, events).items():
            weight = BESIDE if other_x == x or other_y == y else ACROSS
            # Events of the same time count as events before, and only once.
            ages = [t - max(before) for before in [[s for s in times if s <= t]] if before]
            ages += [min(after) - t for after in [[s for s in times if s > t]] if after]
            total += sum(max(1.0 - age / reach, 0.0) for age in ages)
            close += sum(float(weight) for age in ages if age < near)
            n_close += sum(age < near for age in ages)
        support.append(total)
        contrast.append(close)
        number.append(n_close)
    return support, contrast, number
