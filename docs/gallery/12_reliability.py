"""
How certain is a motion?
========================

Every result has a covariance, and doubts where a number should not be used. Four windows: a texture with
edges in all directions; one straight edge, which shows only the motion across itself; two motions of which
only one is asked for; and noise alone.
"""

import matplotlib.pyplot as plt
import numpy as np

import evcrisp
from evcrisp.plots import draw_events

edge = np.where(np.arange(500) > 250, 1.0, 0.2) * np.ones((500, 1))
common = {"resolution": (240, 180), "theta": (300, 200), "duration_us": 60_000, "seed": 3}
recordings = {
    "texture": evcrisp.simulate(**common, noise_hz=5.0).events,
    "one edge": evcrisp.simulate(**common, image=edge, noise_hz=1.0).events,
    "two motions": evcrisp.simulate(**common, object_theta=(-300, 100), noise_hz=5.0).events,
}
recordings["noise alone"] = recordings["texture"][~recordings["texture"].signal]
results = {
    name: evcrisp.estimate(events.between(30_000, 60_000), motion="translation")
    for name, events in recordings.items()
}
for name, result in results.items():
    print(f"{name:12} reliable: {result.reliable!s:5}  {[doubt.code for doubt in result.doubts]}")

# %%
# Below each window: the estimated velocity (dot) with its ellipse of 95 %, and the true one (cross). The
# ellipse of the texture is smaller than the dot. The edge is known across itself, but not along itself: a
# long ellipse through the truth. The third window looks certain, but the doubt says that there is
# another motion. Noise has no motion.


def ellipse(result):
    """Return points of the region of 95 % around the motion."""
    angle = np.linspace(0, 2 * np.pi, 100)
    root = np.linalg.cholesky(result.covariance)
    return result.theta[:, None] + 2.45 * root @ (np.cos(angle), np.sin(angle))


figure, axes = plt.subplots(2, 4, figsize=(14, 7), layout="constrained")
for (name, result), (top, bottom) in zip(results.items(), axes.T, strict=True):
    draw_events(top, result.window.events).set_title(name)
    if result.covariance is not None:
        bottom.plot(*ellipse(result), color="C0")
    bottom.plot(*result.theta, "o", color="C1", label="estimated")
    if name != "noise alone":
        bottom.plot(300, 200, "k+", markersize=12, label="true")
    bottom.set(xlim=(-200, 600), ylim=(600, -200), aspect="equal", xlabel="vx [px/s]")
    bottom.set_title(" ".join(doubt.code for doubt in result.doubts) or "reliable")
axes[1, 0].set_ylabel("vy [px/s]")
axes[1, 0].legend(loc="lower left")
plt.show()
