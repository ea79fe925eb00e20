"""
Compare filters
===============

A filter labels event by event and knows nothing of the motion. ``auto`` uses the motion of a whole window.
Here both label the same 30 ms of a simulated scene whose truth is known.

A filter has no memory at its start and then drops the first events of every edge. It is therefore started
*warm*: it has labeled the 60 ms before. ``auto`` sees only the window itself.
"""

import matplotlib.pyplot as plt

import evcrisp
from evcrisp.metrics import rank_auc, roc_curve, sensitivity, specificity
from evcrisp.plots import draw_outcomes, draw_roc

scene = evcrisp.simulate(theta=(180, 70), duration_us=90_000, noise_hz=10.0, seed=6)
window = scene.events.between(60_000, 90_000)
before = scene.events.between(0, 60_000)


def warm(name):
    """Return the labels of a filter that has seen the events before."""
    labels = evcrisp.denoise(scene.events, name)
    return labels.signal[len(before) :], labels.score[len(before) :]


labels = {name: warm(name) for name in ("baf", "stcf", "ebf", "pugm")}
result = evcrisp.estimate(window)
labels["auto"] = result.signal, result.score

# %%
# Own thresholds of the methods, and the area under the curve of all thresholds.

print("method  sensitivity  specificity    AUC")
for name, (signal, score) in labels.items():
    rates = sensitivity(signal, window.signal), specificity(signal, window.signal)
    print(f"{name:6}  {rates[0]:11.3f}  {rates[1]:11.3f}  {rank_auc(score, window.signal):5.3f}")

# %%
# This scene has one motion, which suits ``auto``. :doc:`/theory/benchmarks` has scenes in which filters
# are as good, and real recordings.

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
draw_roc(axes[0], {name: roc_curve(score, window.signal) for name, (_, score) in labels.items()})
for place, name in zip(axes[1:], ("stcf", "auto"), strict=True):
    draw_outcomes(place, window, labels[name][0], window.signal).set_title(name)
plt.show()
