"""Slow version of the kernel of density."""


def event_density(x, y, t, p, config):
    """Score by the number of events around, and by a dense event at a neighbor."""
    earlier, scores = [], []  # x, y, t, whether dense
    for x0, y0, now in zip(x, y, t, strict=True):
        recent = [
            (max(abs(a - x0), abs(b - y0)), is_dense)
            for a, b, then, is_dense in earlier
            if now - then <= config.tau_us
        ]
        n_around = sum(distance <= config.radius for distance, _ in recent) + config.include_self
        is_isolated = config.fine and not any(
            distance == 1 and is_dense for distance, is_dense in recent
        )
        scores.append(0.0 if is_isolated else n_around / (n_around + config.k))
        earlier.append((x0, y0, now, n_around >= config.k))
    return scores
