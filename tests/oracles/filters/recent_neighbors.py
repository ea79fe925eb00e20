"""Slow version of the kernels that compare the last events of neighboring pixels."""


def kth_newest(x, y, t, p, rule):
    """Score by the age of the k-th newest last event of the neighbors; `rule` is a NeighborRule."""
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
            is_refractory = rule.refractory_us and age <= rule.refractory_us
            is_pair = rule.pair_us and is_other and age <= rule.pair_us
            score = 0.0 if is_refractory or is_pair else score
        elif rule.drop_first:
            score = 0.0
        scores.append(score)
        last[x0, y0] = now, polarity
    return scores
