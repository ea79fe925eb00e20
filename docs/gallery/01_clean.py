"""
Clean a recording
=================

A camera with 346 x 260 pixels, such as a DAVIS346, moves before a textured wall in dim light: shot noise,
leak events and hot pixels. The default method finds the motion of each window and labels the noise;
there is nothing to tune.

Give a recording of your own to use it instead: ``python 01_clean.py FILE``.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import evcrisp
from evcrisp.metrics import sensitivity, specificity
from evcrisp.plots import draw_before_after, draw_events

if len(sys.argv) > 1:
    events = evcrisp.read(sys.argv[1])
else:
    scene = evcrisp.simulate(
        theta=(220, -90), duration_us=120_000, noise="dark", noise_hz=5.0, hot_pixels=20, seed=4
    )
    events = scene.events

# %%
# ``track`` cuts the recording into windows and keeps what it learns from one to the next.

windows = list(evcrisp.track(events))
for window in windows:
    vx, vy = window.velocity[window.signal].mean(axis=0)
    length_ms = (window.window.t_end - window.window.t_start) / 1000
    print(f"{length_ms:5.1f} ms: {window.signal.mean():4.0%} kept, ({vx:.0f}, {vy:.0f}) px/s")

# %%
# The last window, with its contrast map as recorded and aligned. Aligned edges are sharp: their variance
# is larger.

last = windows[-1]
figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
draw_events(axes[0, 0], last.window.events).set_title("recorded")
draw_events(axes[0, 1], last.kept()).set_title("without noise")
draw_before_after(*axes[1], last)
plt.show()

# %%
# The simulator knows which events are noise, so the labels can be checked.

signal = np.concatenate([window.signal for window in windows])
if events.signal is not None:
    print(f"signal kept:   {sensitivity(signal, events.signal):.3f}")
    print(f"noise removed: {specificity(signal, events.signal):.3f}")
