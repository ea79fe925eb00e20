"""Choice of a threshold between the shares of events and of noise samples that it keeps."""

import math

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def best_step(ranked, first, interval, steps, kept_samples, n_effective, certainty):
    """Find the threshold that separates best; of those that are not significantly worse, the median.

    ranked : (n,) floats, increasing; every interval-th counts, from the first one: one or more
    steps : (k,) floats, increasing: thresholds      kept_samples : (k,) float64, share above each
    n_effective : float64, number of samples      certainty : float64, standard deviations
    Returns the position of the threshold, the share of the events above it, and the largest gain.
    """
    n_events = (ranked.size - first + interval - 1) // interval
    gain, deviation, kept = np.empty((3, steps.size))
    n_below, best = 0, 0
    for k in range(steps.size):
        while n_below < n_events and ranked[first + n_below * interval] <= steps[k]:
            n_below += 1
        kept[k] = 1.0 - n_below / n_events
        variance = max(kept_samples[k], 1.0 / n_effective) * (1.0 / n_events + 1.0 / n_effective)
        deviation[k] = math.sqrt(variance)
        gain[k] = kept[k] - kept_samples[k] - certainty * deviation[k]
        if gain[k] > gain[best]:
            best = k
    limit, n_similar = gain[best] - deviation[best], 0
    for k in range(steps.size):
        n_similar += gain[k] >= limit
    middle = n_similar // 2
    for k in range(steps.size):
        if gain[k] >= limit:
            if middle == 0:
                return k, kept[k], gain[best]
            middle -= 1
    return best, kept[best], gain[best]
