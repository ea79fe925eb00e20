"""Slow versions of the kernels of contrast curves."""

import numpy as np

#: Weights of the blur, in 256ths.
WEIGHTS = np.array([39, 57, 64, 57, 39])


def contrast(fired):
    """Return the standard deviation of the Sobel gradient magnitude of a blurred binary frame."""
    height, width = fired.shape
    padded = np.pad(255 * fired.astype(np.int64), 2, mode="reflect")
    total = np.zeros((height, width), np.int64)
    for i in range(5):
        for j in range(5):
            total += WEIGHTS[i] * WEIGHTS[j] * padded[i : i + height, j : j + width]
    p = np.pad((total + 32768) // 65536, 1, mode="reflect")
    rows = p[:-2] + 2 * p[1:-1] + p[2:]
    columns = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
    return np.hypot(rows[:, 2:] - rows[:, :-2], columns[2:] - columns[:-2]).std()


def add_events(x, y, t, resolution, durations):
    """Return the mean contrast per duration, one frame after the other."""
    curve = []
    for duration in durations:
        window = (t - t[0]) // duration
        contrasts = []
        for index in np.unique(window):
            fired = np.zeros((resolution[1], resolution[0]), bool)
            fired[y[window == index], x[window == index]] = True
            contrasts.append(contrast(fired))
        curve.append(np.mean(contrasts))
    return np.array(curve)
