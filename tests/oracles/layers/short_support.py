"""Slow and obvious version of the support by neighbors in space and time."""


def _freshness(x, y, t, p, events, reach):
    """Sum over the 24 pixels around a place the freshness of the nearest of some events in time."""
    nearest = {}
    for other_x, other_y, other_t, other_p in events:
        away = abs(other_x - x), abs(other_y - y)
        if other_p == p and max(away) <= 2 and any(away):
            pixel, age = (other_x, other_y), abs(t - other_t)
            nearest[pixel] = min(age, nearest.get(pixel, age))
    return sum(max(1.0 - age / reach, 0.0) for age in nearest.values())


def short_support(events, samples, reach):
    """Return the support of events and of samples; both are lists of (x, y, t, p)."""
    of_events = [
        _freshness(*event, events[:k], reach) + _freshness(*event, events[k + 1 :], reach)
        for k, event in enumerate(events)
    ]
    of_samples = [
        _freshness(*sample, [e for e in events if e[2] < sample[2]], reach)
        + _freshness(*sample, [e for e in events if e[2] > sample[2]], reach)
        for sample in samples
    ]
    return of_events, of_samples
