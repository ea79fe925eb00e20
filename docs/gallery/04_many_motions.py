"""
Several motions in one window
=============================

Two objects pass before a background that moves as well. By default evcrisp finds as many motions as the
events show. With one motion for the whole window, most events get a wrong velocity; the result says so.
"""

import matplotlib.pyplot as plt
import numpy as np

import evcrisp
from evcrisp.plots import draw_layers
from evcrisp.simulation import ObjectConfig

objects = (
    ObjectConfig(theta=(300, 60), motion="translation", center=(0.25, 0.3), size=(0.3, 0.4)),
    ObjectConfig(theta=(-260, 90), motion="translation", center=(0.75, 0.65), size=(0.3, 0.4)),
)
scene = evcrisp.simulate(theta=(-80, 40), objects=objects, duration_us=60_000, noise_hz=3.0, seed=3)
window = scene.events.between(30_000, 60_000)

many = evcrisp.estimate(window)
one = evcrisp.estimate(window, motion="translation")

# %%
# Error of the velocities of true signal: of the background (0) and of both objects (1, 2), over 30 ms.

inside = scene.events.t >= 30_000
thing, true = scene.object[inside], scene.velocity[inside]
for name, result in {"several motions": many, "one motion": one}.items():
    error = 0.03 * np.hypot(*(result.velocity - true).T)
    medians = [f"{k}: {np.median(error[thing == k]):.2f} px" for k in (0, 1, 2)]
    doubts = " ".join(doubt.code for doubt in result.doubts) or "none"
    print(f"{name:15}  {', '.join(medians)}  doubts: {doubts}")

# %%
# Events in the colors of their layers, noise gray; true velocities are (-80, 40), (300, 60) and
# (-260, 90) px/s.

figure, axes = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
draw_layers(axes[0], many).set_title("several motions")
draw_layers(axes[1], one).set_title('motion="translation"')
plt.show()
