"""Slow versions of polarity-focused denoising, event by event and in slices."""

from collections import defaultdict
from itertools import pairwise


def polarity_changes(x, y, t, p, config, resolution):
    """Score by three tests: neighbors of the same polarity, active neighbors, changes."""
    events, changes, compared, scores = defaultdict(list), defaultdict(list), {}, []
    for x0, y0, now, polarity in zip(x, y, t, p, strict=True):
        if polarity != compared.setdefault((x0, y0), polarity):
            changes[x0, y0].append(now)
        if not config.first_polarity:
            compared[x0, y0] = polarity

        same, latest = {}, {}
        for pixel in neighbors_of(x0, y0, resolution):
            of_polarity = [time for time, other in events[pixel] if other == polarity]
            if of_polarity and not (config.zero_start and of_polarity[-1] == 0):
                same[pixel] = of_polarity[-1]
            if events[pixel] or config.zero_start:
                latest[pixel] = events[pixel][-1][0] if events[pixel] else 0
        active = [pixel for pixel, time in latest.items() if now - time <= config.window_us]

        def count(pixel, now=now):
            return sum(now - time <= config.window_us for time in changes[pixel][-config.memory :])

        tests = (
            age_score(now, same.values(), config.k, config.tau_us),
            age_score(now, latest.values(), config.min_active, config.window_us),
            change_score(count((x0, y0)), [count(pixel) for pixel in active], config),
        )
        scores.append(sum(tests) / 6 + (0.5 if min(tests) >= 0.5 else 0.0))
        events[x0, y0].append((now, polarity))
    return scores


def slice_changes(x, y, t, p, config, resolution):
    """Score by the same tests; activity and changes are those of the slice of the event."""
    events = list(zip(x, y, t, p, strict=True))
    skipped = int(config.published)  # number of events at the start that do not count
    scores, begin, start = [], 0, t[0] if t else 0
    while begin < len(events):
        ends = [i + 1 for i in range(begin, len(events)) if t[i] - start >= config.window_us]
        end = ends[0] if ends else len(events)
        is_dropped = config.published and not ends
        polarities = defaultdict(list)
        for x0, y0, _, polarity in events[max(begin, skipped) : end]:
            polarities[x0, y0].append(polarity)
        changes = {
            pixel: sum(a != b for a, b in pairwise(values)) for pixel, values in polarities.items()
        }
        for i, (x0, y0, now, polarity) in enumerate(events[begin:end], start=begin):
            neighbors = neighbors_of(x0, y0, resolution)
            same = {
                (x1, y1): then
                for x1, y1, then, other in events[skipped:i]
                if (x1, y1) in neighbors and other == polarity
            }
            times = [time for time in same.values() if not (config.published and time == t[0])]
            around = [changes[pixel] for pixel in neighbors if pixel in changes]
            tests = (
                0.0 if i < skipped else age_score(now, times, config.k, config.tau_us),
                len(around) / (len(around) + config.min_active),
                change_score(changes.get((x0, y0), 0), around, config),
            )
            is_kept = min(tests) >= 0.5 and not is_dropped
            scores.append(sum(tests) / 6 + (0.5 if is_kept else 0.0))
        begin, start = end, t[end - 1]
    return scores


def neighbors_of(x, y, resolution):
    """Return the pixels of the sensor around a pixel."""
    width, height = resolution
    square = [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
    return [(x, y) for x, y in square if 0 <= x < width and 0 <= y < height]


def age_score(now, times, k, tau_us):
    """Score the k-th newest of the times by its age."""
    newest = sorted(times, reverse=True)
    return tau_us / (tau_us + max(now - newest[k - 1], 0)) if len(newest) >= k else 0.0


def change_score(own, around, config):
    """Score the number of changes at a pixel, given those at its active neighbors."""
    mean = sum(around) / len(around) if around else 0.0
    excess = mean if config.flicker else abs(own - mean)
    return config.max_changes / (config.max_changes + excess)
