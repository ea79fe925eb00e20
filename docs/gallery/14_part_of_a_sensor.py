"""
Labels on a part of a sensor
============================

Many recordings fill only a part of their sensor: a region of interest, a crop, a guessed size. Noise is
measured where events occur (the *live area*), so that the empty rest does not make the noise look weak.
"""

import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

import evcrisp
from evcrisp.metrics import sensitivity, specificity
from evcrisp.plots import draw_events, draw_outcomes

# A region of 200 x 150 px on a sensor of 640 x 480 px.
small = evcrisp.simulate(
    resolution=(200, 150), theta=(250, 100), duration_us=60_000, noise_hz=10.0, seed=4
)
inside = small.events.between(30_000, 60_000)
events = evcrisp.Events(
    x=inside.x + 330, y=inside.y + 60, t=inside.t, p=inside.p, resolution=(640, 480),
    signal=inside.signal,
)  # fmt: skip

area = evcrisp.LiveArea.of(events)
print(area.advice())

# %%
# Labels are the same as those of the cropped recording, up to a few events:

for name, window in {"whole sensor": events, "cropped": area.crop(events)}.items():
    result = evcrisp.estimate(window)
    kept, removed = (rate(result.signal, window.signal) for rate in (sensitivity, specificity))
    print(f"{name:12} {window.resolution}: {kept:.3f} kept, {removed:.3f} of the noise removed")

# %%
# The sensor with its live area, and the right and wrong labels within.

figure, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
draw_events(axes[0], events).set_title("sensor and live area")
left, top, width, height = area.box
axes[0].add_patch(Rectangle((left, top), width, height, fill=False, edgecolor="green", linewidth=2))
draw_outcomes(axes[1], window, result.signal, window.signal).set_title("labels, cropped")
plt.show()
