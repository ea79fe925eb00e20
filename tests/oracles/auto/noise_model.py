"""Slow and obvious version of the choice of a threshold."""

import numpy as np


def best_step(events, steps, kept_samples, n_effective, certainty):
    """Return position, kept share of the events and largest gain, from whole arrays."""
    kept = 1.0 - np.array([np.mean(events <= step) for step in steps])
    variance = np.maximum(kept_samples, 1.0 / n_effective) * (1.0 / events.size + 1.0 / n_effective)
    gain = kept - kept_samples - certainty * np.sqrt(variance)
    best = int(np.argmax(gain))
    similar = np.flatnonzero(gain >= gain[best] - np.sqrt(variance[best]))
    k = similar[similar.size // 2]
    return k, kept[k], gain[best]
