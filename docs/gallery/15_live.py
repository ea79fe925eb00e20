"""
Live events
===========

:func:`evcrisp.live` labels events while they come, from a camera, a server or a pipe. Here a recording is
played in real time; with ``tcp://127.0.0.1:7777`` in its place, the events of dv-processing are cleaned.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import evcrisp

folder = Path(tempfile.mkdtemp())
scene = evcrisp.simulate(
    theta=(300, -120), duration_us=400_000, resolution=(240, 180), noise_hz=3.0, seed=4
)
evcrisp.write(folder / "scene.aedat4", scene.events.with_signal(None))

parts = []
summary = evcrisp.live(
    str(folder / "scene.aedat4"), [str(folder / "clean.aedat4")],
    windowing=evcrisp.Windowing(max_latency_us=40_000), on_part=parts.append,
)  # fmt: skip
print(summary.page())

# %%
# Each part has the events of a window, those that are kept, and the estimate of the motion. A file is complete
# when the session ends; a server sends each part at once.

start_ms = np.array([part.estimate.window.t_start for part in parts]) / 1e3
rates = [[len(events) for events in (part.events, part.kept)] for part in parts]
figure, axes = plt.subplots(2, 1, figsize=(9, 5), sharex=True, layout="constrained")
for values, label in zip(np.transpose(rates), ("all", "kept"), strict=True):
    axes[0].step(start_ms, values, where="post", label=label)
axes[0].set_ylabel("events per window")
axes[0].legend()
for k, name in enumerate(("vx", "vy")):
    axes[1].plot(start_ms, [part.estimate.theta[k] for part in parts], "o-", label=name)
axes[1].set(xlabel="start of the window [ms]", ylabel="velocity [px/s]")
axes[1].legend()
plt.show()
