"""Slow version of the kernel of edncnn."""

import math

import numpy as np


def gather_patches(x, y, t, p, missing, floor, radius=12):
    """Return the patches of all events from the full history of each pixel."""
    side = 2 * radius + 1
    patches = np.full((len(t), 4, side, side), math.log(missing + 1) - floor)
    history = {}  # (x, y, p) -> times
    for k in range(len(t)):
        for channel in range(4):
            plane = bool(p[k]) == (channel < 2)
            for i in range(side):
                for j in range(side):
                    pixel = (int(x[k]) + j - radius, int(y[k]) + i - radius, plane)
                    times = history.get(pixel, [])
                    if len(times) > channel % 2:
                        dt = min(int(t[k]) - times[-1 - channel % 2], missing)
                        patches[k, channel, i, j] = max(0.0, math.log(dt + 1) - floor)
        history.setdefault((int(x[k]), int(y[k]), bool(p[k])), []).append(int(t[k]))
    return patches
