"""Slow version of the kernel of random controls."""

import numpy as np


def draw(uniform, n_left, n_wanted):
    """Choose each event with the probability n_wanted / n_left."""
    chosen = []
    for u in uniform:
        chosen.append(u < n_wanted / n_left)
        n_wanted -= chosen[-1]
        n_left -= 1
    return np.array(chosen, bool)
