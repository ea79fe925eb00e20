"""Slow version of the kernel of dwf."""


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
