"""Bursts of one polarity at a pixel: keep their second event (stc) or their first (trail).

The state of a pixel is one number, for a single memory access per event: four times the time of the
last event, plus 2 if a second event may pass, plus its polarity. No branch depends on polarity.
"""

import numpy as np

from evcrisp.kernels.compile import njit

#: Flags that are added to four times the time of the last event.
ON, ARMED = 1, 2

#: Time in the state of a pixel that has not fired.
UNSEEN = -(2**61)


@njit
def second_of_burst(x, y, t, p, state, tau_us, cut_trail, signal, score):
    """Keep events that follow one of their pixel and polarity within `tau_us`.

    state : (h, w) int64, see above      score : at least 0.5 for kept events
    """
    for k in range(t.size):
        c, r = np.int64(x[k]), np.int64(y[k])
        before, on = state[r, c], np.int64(p[k])
        last = before >> 2
        same = ((before ^ on) & ON) == 0
        armed = (before & ARMED) != 0
        age = t[k] - last
        kept = same & armed & (age <= tau_us)
        closeness = (1.0 if armed else 0.25) * tau_us / (tau_us + age)
        signal[k] = kept
        score[k] = closeness if same & (last != UNSEEN) else 0.0
        arms = (armed & (not (kept & cut_trail))) | (not same)
        state[r, c] = (t[k] << 2) + (ARMED if arms else 0) + on


@njit
def first_of_burst(x, y, t, p, state, tau_us, signal, score):
    """Keep events `tau_us` after the last event of their pixel, or with another polarity.

    Arguments as in `second_of_burst`.
    """
    for k in range(t.size):
        c, r = np.int64(x[k]), np.int64(y[k])
        before, on = state[r, c], np.int64(p[k])
        last = before >> 2
        same = (((before ^ on) & ON) == 0) & (last != UNSEEN)
        age = t[k] - last
        signal[k] = (not same) | (age >= tau_us)
        score[k] = age / (age + tau_us) if same else 1.0
        state[r, c] = (t[k] << 2) + on
