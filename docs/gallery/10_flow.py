"""
Flow of every pixel
===================

The flow of a window is the velocity of the image at every pixel near signal. Here a whirl moves the
texture, and the simulator knows the velocity of every pixel.

Layers are affine and a whirl is not, so it is cut into pieces: the flow has steps that the truth does not
have.
"""

import matplotlib.pyplot as plt
import numpy as np

import evcrisp
from evcrisp.metrics import flow_errors
from evcrisp.plots import draw_flow
from evcrisp.simulation import Vortex

scene = evcrisp.simulate(
    field=Vortex(peak_px_s=300.0), texture="dots", duration_us=60_000, noise_hz=3.0, seed=2
)
result = evcrisp.estimate(scene.events.between(30_000, 60_000), motion="flow")
flow = result.flow()
truth = evcrisp.Flow(scene.flow(45_000), flow.valid, flow.t_start, flow.t_end)

# %%
# Errors over the window of 30 ms, in px, of the pixels whose flow is known. One translation for the whole
# view has no whirl at all.

one = evcrisp.estimate(result.window, motion="translation").flow()
for name, found in {"flow": flow, "one translation": one}.items():
    errors = flow_errors(found.velocity, truth.velocity, found.valid & truth.valid, 0.03)
    print(f"{name:15}  {errors.aee:.2f} px on average, {errors.outliers:.0%} above 3 px")

# %%
# The hue is the direction, the saturation the speed; white pixels are not known. On the right the error, dark
# where it is large: at the steps between layers, and in the core of the whirl.

figure, axes = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
top = float(np.nanmax(np.hypot(*truth.velocity[truth.valid].T)))
draw_flow(axes[0], flow, top=top).set_title(f"{len(result.layers)} layers")
draw_flow(axes[1], truth, top=top).set_title("truth")
error_px = 0.03 * np.hypot(*np.moveaxis(flow.velocity - truth.velocity, -1, 0))
shown = axes[2].imshow(error_px, cmap="viridis_r", vmin=0, vmax=4)
axes[2].set_title("error")
figure.colorbar(shown, ax=axes[2], label="px over the window", shrink=0.8)
plt.show()
