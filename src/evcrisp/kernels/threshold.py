"""Find the threshold that tells events from noise best."""

import numpy as np

from evcrisp.kernels import fused


@fused
def count_above(values, stride, steps, counts):
    """Count, for each step, how many of every stride-th value lie above it.

    values : (n,) floats      steps : (m,) floats, ascending, m >= 1      counts : (m,) int64, filled
    Returns of how many values.
    """
    last = steps.size - 1
    lowest, highest = steps[0], steps[last]
    counts[:] = 0
    n = n_highest = 0
    for k in range(0, values.size, stride):
        value = values[k]
        n += 1
        # Most lie below all steps or above all of them.
        if value > highest:
            n_highest += 1
        elif value > lowest:
            counts[np.searchsorted(steps, value, side="left") - 1] += 1
    counts[last] = n_highest
    for i in range(last - 1, -1, -1):
        counts[i] += counts[i + 1]
    return n


@fused
def most_telling(values, stride, top, least, n_probes, certainty):
    """Return the threshold at which the kept shares of values and probes differ most, beyond chance.

    Of all thresholds that cannot be told from the best one, it is that in the middle.

    values : (n,) floats, n >= 1, of which every stride-th counts
    top : (m,) floats, m >= 1: the largest of the probes, ascending, which are the thresholds
    least : float of the same precision, that no threshold goes below
    n_probes : of how many probes      certainty : standard deviations that count as chance
    """
    steps, counts = np.maximum(top, least), np.empty(top.size, np.int64)
    n = count_above(values, stride, steps, counts)
    gains, doubts = np.empty(top.size), np.empty(top.size)
    best = n_kept = 0
    for i in range(top.size - 1, -1, -1):
        # Probes that are equal are kept or dropped together.
        if i == top.size - 1 or steps[i] < steps[i + 1]:
            n_kept = top.size - np.searchsorted(top, steps[i], side="right")
        share = n_kept / n_probes
        doubts[i] = np.sqrt(max(share, 1.0 / n_probes) * (1.0 / n + 1.0 / n_probes))
        gains[i] = counts[i] / n - share - certainty * doubts[i]
        if i == top.size - 1 or gains[i] >= gains[best]:
            best = i
    limit, n_alike = gains[best] - doubts[best], 0
    for i in range(top.size):
        n_alike += gains[i] >= limit
    middle = n_alike // 2
    for i in range(top.size):
        if gains[i] >= limit:
            if middle == 0:
                return steps[i]
            middle -= 1
    return steps[best]
