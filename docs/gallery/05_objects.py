"""
Follow objects
==============

``ObjectTracker`` turns the layers of the windows into objects with numbers that stay. Give a recording of
your own: ``python 05_objects.py FILE``.
"""

import sys
from collections import defaultdict

import matplotlib.pyplot as plt

import evcrisp
from evcrisp.plots import draw_layers
from evcrisp.simulation import ObjectConfig

if len(sys.argv) > 1:
    source = evcrisp.read(sys.argv[1])
else:
    shape = {"size": (0.3, 0.4), "texture": "rocks", "motion": "translation"}
    objects = (
        ObjectConfig(theta=(220, 40), center=(0.2, 0.3), **shape),
        ObjectConfig(theta=(-220, -40), center=(0.8, 0.7), **shape),
    )
    source = evcrisp.simulate(
        resolution=(240, 180), theta=(0, 0), objects=objects, contrast=2.5,
        duration_us=240_000, noise_hz=2.0, seed=7,
    ).events  # fmt: skip

tracker = evcrisp.ObjectTracker(min_events=1_000)
paths = defaultdict(list)
for result in evcrisp.track(source, windowing=evcrisp.Windowing(window_us=30_000)):
    for thing in tracker.update(result):
        paths[thing.id].append((*thing.center, *thing.velocity))

for number, path in paths.items():
    vx, vy = path[-1][2:]
    print(f"object {number}: {len(path)} windows, at last ({vx:.0f}, {vy:.0f}) px/s")

# %%
# The last window, and the centers of the objects in all windows. The objects pass each other and keep
# their numbers.

figure, axes = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
draw_layers(axes[0], result).set_title("last window")
for number, path in paths.items():
    x, y, vx, vy = zip(*path, strict=True)
    axes[1].plot(x, y, "-o", label=f"object {number}")
    axes[1].annotate("", (x[-1] + 0.05 * vx[-1], y[-1] + 0.05 * vy[-1]), (x[-1], y[-1]),
                     arrowprops={"arrowstyle": "->"})  # fmt: skip
width, height = source.resolution
axes[1].set(xlim=(0, width), ylim=(height, 0), aspect="equal", xlabel="x [px]", ylabel="y [px]")
axes[1].legend()
plt.show()
