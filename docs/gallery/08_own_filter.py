"""
Write your own filter
=====================

A filter has a name and ``start``, which returns a stream with ``label`` and ``finish``. It works wherever the
name of a filter does. This one keeps an event if a pixel beside it had an event of the *same polarity*
lately; ``baf`` ignores the polarity.

To use a filter from the command line, put it into a package: ``docs/plugin`` is one.
"""

import matplotlib.pyplot as plt
import numpy as np

import evcrisp
from evcrisp.filters import Labels
from evcrisp.metrics import roc_curve
from evcrisp.plots import draw_kept, draw_roc


class SamePolarity:
    """Keep events with an event of the same polarity beside them within 5 ms."""

    name = "same_polarity"

    def start(self, resolution):
        """Begin a recording: no pixel has had an event."""
        self.last = np.full((2, resolution[1] + 2, resolution[0] + 2), -(10**15))
        return self

    def label(self, events):
        """Label the next events."""
        age = np.empty(len(events))
        for k, (x, y, t, p) in enumerate(zip(events.x, events.y, events.t, events.p, strict=True)):
            around = self.last[int(p), y : y + 3, x : x + 3]
            around[1, 1] = -(10**15)  # without the pixel itself
            age[k] = t - around.max()
            around[1, 1] = t
        return Labels(age <= 5_000, -age)

    def finish(self):
        """Return no labels: none were held back."""
        return Labels.empty(0)


# %%
# The polarity helps: the curve lies above that of ``baf``. Pictures show the last 20 ms.

scene = evcrisp.simulate(resolution=(240, 180), duration_us=60_000, noise_hz=8.0, seed=8)
own = evcrisp.denoise(scene.events, SamePolarity())
scores = {"same polarity": own.score, "baf": evcrisp.denoise(scene.events, "baf").score}
last = scene.events.t >= 40_000

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
draw_roc(axes[0], {name: roc_curve(score, scene.events.signal) for name, score in scores.items()})
draw_kept(axes[1], scene.events, last).set_title("recorded")
draw_kept(axes[2], scene.events, last & own.signal).set_title("kept by the own filter")
plt.show()
