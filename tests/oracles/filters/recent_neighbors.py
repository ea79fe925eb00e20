"""The slow and obvious versions of the denoisers, for tests: every earlier event in a dictionary.

Each takes columns of Python integers and returns one score per event.
"""

import math


def support(x, y, t, p, rule):
    """Score by the k-th newest last event of the pixels around; `rule` is a filters' Support."""
    last, scores = {}, []
    for x0, y0, now, polarity in zip(x, y, t, p, strict=True):
        ages = sorted(
            now - last[x0 + dx, y0 + dy][0]
            for dx, dy in rule.offsets()
            if (x0 + dx, y0 + dy) in last
            and not (rule.same_polarity and last[x0 + dx, y0 + dy][1] != polarity)
        )
        score = rule.tau_us / (rule.tau_us + ages[rule.k - 1]) if len(ages) >= rule.k else 0.0
        if (x0, y0) in last:
            age, is_other = now - last[x0, y0][0], last[x0, y0][1] != polarity
            is_soon = rule.refractory_us and age <= rule.refractory_us
            is_pair = rule.pair_us and is_other and age <= rule.pair_us
            score = 0.0 if is_soon or is_pair else score
        elif rule.drop_first:
            score = 0.0
        scores.append(score)
        last[x0, y0] = now, polarity
    return scores


def line_support(x, y, t, p, config):
    """Score by the k-th newest of the last events of three columns and three rows."""
    columns, rows, scores = {}, {}, []
    for event in zip(x, y, t, p, strict=True):
        x0, y0, now, polarity = event
        cells = [columns.get(x0 + step) for step in (-1, 0, 1)]
        cells += [rows.get(y0 + step) for step in (-1, 0, 1)]
        ages = sorted(
            now - cell[2]
            for cell in cells
            if cell is not None
            and max(abs(cell[0] - x0), abs(cell[1] - y0)) <= 1
            and (config.include_self or cell[:2] != (x0, y0))
            and (cell[3] == polarity or not config.same_polarity)
        )
        enough = len(ages) >= config.k
        scores.append(config.tau_us / (config.tau_us + ages[config.k - 1]) if enough else 0.0)
        columns[x0] = rows[y0] = event
    return scores


def window_distance(x, y, t, p, config):
    """Score by the distance to the k-th nearest of the last kept and dropped events."""
    kept, dropped, scores = [], [], []
    for n_before, (x0, y0) in enumerate(zip(x, y, strict=True)):
        distances = sorted(abs(a - x0) + abs(b - y0) for a, b in kept + dropped)
        score = 0.0
        if n_before >= config.warm_up and len(distances) >= config.k:
            score = config.radius_px / (config.radius_px + distances[config.k - 1])
        scores.append(score)
        if n_before < config.warm_up:
            if n_before < config.length:
                kept.append((x0, y0))
            continue
        window = kept if score >= 0.5 else dropped
        window.append((x0, y0))
        if len(window) > config.length:
            del window[0]
    return scores


def mean_decay(x, y, t, p, config):
    """Score by the mean of exp(-age / tau) over the pixels of the square that have fired."""
    last, scores = {}, []
    steps = range(-config.radius, config.radius + 1)
    for x0, y0, now, polarity in zip(x, y, t, p, strict=True):
        places = [(x0 + dx, y0 + dy, polarity) for dx in steps for dy in steps]
        values = [math.exp((last[at] - now) / config.tau_us) for at in places if at in last]
        scores.append(sum(values) / max(len(values), 1))
        last[x0, y0, polarity] = now
    return scores


def own_age(x, y, t, p, config):
    """Score by the time since the last event of the pixel."""
    last, scores = {}, []
    for x0, y0, now in zip(x, y, t, strict=True):
        age = now - last.get((x0, y0), -math.inf)
        scores.append(1.0 if age == math.inf else age / (age + config.period_us + 1))
        if scores[-1] >= 0.5 or not config.since_kept:
            last[x0, y0] = now
    return scores


def fading_excess(x, y, t, p, config, resolution):
    """Score by the count of the pixel, all earlier events faded, against those around."""
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


def event_density(x, y, t, p, config):
    """Score by the number of events around, and by having a dense one in a pixel beside."""
    earlier, scores = [], []  # x, y, t, whether dense
    for x0, y0, now in zip(x, y, t, strict=True):
        recent = [
            (max(abs(a - x0), abs(b - y0)), is_dense)
            for a, b, then, is_dense in earlier
            if now - then <= config.tau_us
        ]
        n_around = sum(far <= config.radius for far, _ in recent) + config.include_self
        alone = config.fine and not any(far == 1 and is_dense for far, is_dense in recent)
        scores.append(0.0 if alone else n_around / (n_around + config.k))
        earlier.append((x0, y0, now, n_around >= config.k))
    return scores
