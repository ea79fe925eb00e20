"""Slow version of the kernel of hotpixel."""


def count_excess(x, y, t, p, config, resolution):
    """Score by the decayed count of the pixel compared with its neighbors."""
    earlier, scores = [], []
    for x0, y0, now in zip(x, y, t, strict=True):
        own, others = 1.0, 0.0
        for x1, y1, then in earlier:
            weight = 2.0 ** ((then - now) / config.half_life_us)
            if (x1, y1) == (x0, y0):
                own += weight
            elif max(abs(x1 - x0), abs(y1 - y0)) <= 2:
                others += weight
        n_columns = sum(0 <= x0 + step < resolution[0] for step in range(-2, 3))
        n_rows = sum(0 <= y0 + step < resolution[1] for step in range(-2, 3))
        limit = config.least + config.factor * others / max(n_columns * n_rows - 1, 1)
        scores.append(limit / (limit + own))
        earlier.append((x0, y0, now))
    return scores
