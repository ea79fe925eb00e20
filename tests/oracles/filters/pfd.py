"""Slow version of polarity-focused denoising."""

from collections import defaultdict


def polarity_changes(x, y, t, p, config, resolution):
    """Score by three tests: neighbors of the same polarity, active neighbors, changes."""
    width, height = resolution
    events, changes, compared, scores = defaultdict(list), defaultdict(list), {}, []
    for x0, y0, now, polarity in zip(x, y, t, p, strict=True):
        neighbors = [
            (x0 + dx, y0 + dy)
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            if (dx or dy) and 0 <= x0 + dx < width and 0 <= y0 + dy < height
        ]
        if polarity != compared.setdefault((x0, y0), polarity):
            changes[x0, y0].append(now)
        if not config.first_polarity:
            compared[x0, y0] = polarity

        same, latest = {}, {}
        for pixel in neighbors:
            of_polarity = [time for time, other in events[pixel] if other == polarity]
            if of_polarity and not (config.zero_start and of_polarity[-1] == 0):
                same[pixel] = of_polarity[-1]
            if events[pixel] or config.zero_start:
                latest[pixel] = events[pixel][-1][0] if events[pixel] else 0
        active = [pixel for pixel, time in latest.items() if now - time <= config.window_us]

        def count(pixel, now=now):
            return sum(now - time <= config.window_us for time in changes[pixel][-config.memory :])

        excess = sum(map(count, active)) / len(active) if active else 0.0
        if not config.flicker:
            excess = abs(count((x0, y0)) - excess)
        tests = (
            age_score(now, same.values(), config.k, config.tau_us),
            age_score(now, latest.values(), config.min_active, config.window_us),
            config.max_changes / (config.max_changes + excess),
        )
        scores.append(sum(tests) / 6 + (0.5 if min(tests) >= 0.5 else 0.0))
        events[x0, y0].append((now, polarity))
    return scores


def age_score(now, times, k, tau_us):
    """Score the k-th newest of the times by its age."""
    newest = sorted(times, reverse=True)
    return tau_us / (tau_us + max(now - newest[k - 1], 0)) if len(newest) >= k else 0.0
