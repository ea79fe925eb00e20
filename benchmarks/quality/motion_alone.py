"""Motion of each true layer, fitted alone: what a perfect segmentation would leave as an error.

A similarity is fitted to the true signal of each object by plain contrast maximization. Where its
error is large, an object has too few edges for its motion, whatever the method.
"""

import numpy as np
from benchmarks.quality.label_measures import LEAST_EVENTS, motion_measures

import evcrisp
from evcrisp.core.windows import Window


def motion_alone(window: Window, truth: dict) -> dict[str, float]:
    """Return the error of the motion of layers that are fitted alone, px over the window."""
    objects = truth["object"]
    velocity = np.full(truth["velocity"].shape, np.nan)
    for number in np.unique(objects[truth["signal"]]):
        mine = objects == number
        if np.count_nonzero(mine) > LEAST_EVENTS:
            alone = Window(window.events[mine], window.t_start, window.t_end)
            velocity[mine] = evcrisp.estimate(alone, "cmax", "similarity").velocity
    fitted = np.isfinite(velocity).all(axis=1)
    duration_s = (window.t_end - window.t_start) / 1e6
    measures = motion_measures(velocity[fitted], truth["velocity"][fitted], duration_s)
    return {"alone_error_px": measures["error_px"]}
