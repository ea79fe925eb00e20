"""
Alignment against denoising: the Pareto front
=============================================

The method of the paper (``exact``) minimizes the larger of two regrets: one of alignment, one of
denoising. Other weights give other solutions. None of those on the front is better in both respects.
Counted from the best value of each, the larger regret is smallest at a compromise.
"""

import matplotlib.pyplot as plt

import evcrisp
from evcrisp.metrics import sensitivity, specificity
from evcrisp.plots import draw_pareto

scene = evcrisp.simulate(
    resolution=(160, 120), theta=(250, -100), duration_us=25_000, noise_hz=20.0, seed=5
)
front = evcrisp.pareto_front(scene.events, n_points=15)
print(len(front), "points; the regret selects number", front.regret_index + 1)

# %%
# The truth shows the price along the front: up to the compromise more noise is removed, and hardly any
# signal; beyond it, signal is lost.

truth = scene.events.signal
kept = [sensitivity(point.signal, truth) for point in front.points]
removed = [specificity(point.signal, truth) for point in front.points]

figure, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
draw_pareto(axes[0], front)
numbers = range(1, len(front) + 1)
axes[1].plot(numbers, kept, "-o", label="signal kept")
axes[1].plot(numbers, removed, "-s", label="noise removed")
axes[1].axvline(front.regret_index + 1, color="gray", linestyle=":", label="regret solution")
axes[1].set(xlabel="point of the front", ylabel="share", ylim=(0, 1.02))
axes[1].legend()
plt.show()
