"""A spatio-temporal correlation filter, as a yardstick: k of the eight neighbors fired lately."""

import numpy as np

from evcrisp.filters import Labels
from evcrisp.kernels import njit

NEVER = -(2**62)


@njit
def _age_of_kth(x, y, t, k_needed, last, age):
    """Age of the k-th most recent event of different pixels around each event."""
    recent = np.empty(8, np.int64)
    for k in range(t.size):
        c, r = np.int64(x[k]), np.int64(y[k])
        n = 0
        for i in range(3):
            for j in range(3):
                if i != 1 or j != 1:
                    recent[n] = last[r + i, c + j]
                    n += 1
        recent.sort()
        found = recent[8 - k_needed]
        age[k] = -1 if found == NEVER else t[k] - found
        last[r + 1, c + 1] = t[k]


def stcf(events, tau_us, k_needed=2):
    """Label the events of a window; the score falls with the age of the support."""
    events = events.contiguous()
    last = np.full((events.height + 2, events.width + 2), NEVER, np.int64)
    age = np.empty(len(events), np.int64)
    _age_of_kth(events.x, events.y, events.t, k_needed, last, age)
    score = np.where(age >= 0, 1.0 / (1.0 + np.maximum(age, 0) / tau_us), 0.0)
    return Labels((age >= 0) & (age <= tau_us), score)
