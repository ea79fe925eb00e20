"""
Windows that choose their length
================================

A motion can be estimated when the image has moved by some pixels. A slow image needs a long window and a fast
one a short window. By default a window ends when its own events show that the image has moved.
"""

import matplotlib.pyplot as plt
import numpy as np

import evcrisp

scene = evcrisp.simulate(
    theta=(700, 0), trajectory="sine", period_us=800_000, duration_us=600_000,
    resolution=(240, 180), noise_hz=3.0, seed=5,
)  # fmt: skip
results = list(evcrisp.track(scene.events))

start = np.array([result.window.t_start for result in results]) / 1e6
end = np.array([result.window.t_end for result in results]) / 1e6
found = np.array([result.theta[0] for result in results])
true = np.array([scene.theta(result.window.t_start, result.window.t_end)[0] for result in results])
length_ms = 1e3 * (end - start)
print(f"{len(results)} windows of {length_ms.min():.0f} to {length_ms.max():.0f} ms")

# %%
# A camera that swings: steps are the velocities of the windows, the line is the truth. Windows are short where
# the image is fast, and long where it turns around, where a window may be doubtful. Below, how far the image
# moves within each of them.

figure, axes = plt.subplots(2, 1, figsize=(9, 6), sharex=True, layout="constrained")
t = np.linspace(0, 0.599, 300)
axes[0].plot(t, [scene.theta(int(1e6 * k), int(1e6 * k) + 1)[0] for k in t], "k-", label="true")
good = np.array([result.reliable for result in results])
axes[0].hlines(found[good], start[good], end[good], color="C0", linewidth=4, label="reliable")
axes[0].hlines(found[~good], start[~good], end[~good], color="C1", linewidth=4, label="doubtful")
axes[0].set_ylabel("vx [px/s]")
axes[0].legend()
axes[1].bar(start, np.abs(true) * (end - start), width=end - start, align="edge", edgecolor="w")
axes[1].set(xlabel="time [s]", ylabel="displacement [px]")
plt.show()
