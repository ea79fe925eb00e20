"""Slow version of the event-based bilateral filter."""


def sum_square(x, y, t, p, config):
    """Score by the weights of the last events around that have the polarity of the event."""
    last, scores = {}, []
    around = range(-config.radius, config.radius + 1)
    for x0, y0, now, polarity in zip(x, y, t, p, strict=True):
        total = 0
        for dx in around:
            for dy in around:
                if (dx, dy) != (0, 0) and (x0 + dx, y0 + dy) in last:
                    then, other_polarity = last[x0 + dx, y0 + dy]
                    if other_polarity == polarity:
                        total += max(0, config.tau_us - (now - then))
        scores.append(total / config.tau_us)
        last[x0, y0] = now, polarity
    return scores
