"""The slow and obvious versions of the kernels of measures, for tests."""

import numpy as np

#: Weights of the blur of `metrics_contrast`, in 256ths.
TAPS = np.array([39, 57, 64, 57, 39])


def structure(x, y, resolution):
    """Return the ESR, its two factors, the occupied pixels, and version 2, by the definitions."""
    width, height = resolution
    counts = np.zeros((height, width), np.int64)
    np.add.at(counts, (y.astype(np.int64), x.astype(np.int64)), 1)
    n = x.size
    kept = (2 * n // 3) / n
    ntss = (counts * (counts - 1)).sum() / (n * (n - 1)) if n > 1 else 0.0
    l_n = counts.size - ((1.0 - kept) ** counts).sum()
    padded = np.pad(counts, 1)
    medians = np.array(
        [[np.median(padded[r : r + 3, c : c + 3]) for c in range(width)] for r in range(height)]
    )
    reached = (counts.size - (0.5**medians).sum()) / counts.size
    second = 1000.0 * np.sqrt((medians**2).sum() / n**2 * reached)
    return np.sqrt(ntss * l_n), ntss, l_n, (counts > 0).sum(), second


def draw(uniform, n_left, n_wanted):
    """Choose each event with the share that is still wanted of what is left."""
    chosen = []
    for u in uniform:
        chosen.append(u < n_wanted / n_left)
        n_wanted -= chosen[-1]
        n_left -= 1
    return np.array(chosen, bool)


def frame_contrast(fired):
    """Return the deviation of Sobel's slopes of a blurred binary frame."""
    height, width = fired.shape
    padded = np.pad(255 * fired.astype(np.int64), 2, mode="reflect")
    total = np.zeros((height, width), np.int64)
    for i in range(5):
        for j in range(5):
            total += TAPS[i] * TAPS[j] * padded[i : i + height, j : j + width]
    p = np.pad((total + 32768) // 65536, 1, mode="reflect")
    rows = p[:-2] + 2 * p[1:-1] + p[2:]
    columns = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
    return np.hypot(rows[:, 2:] - rows[:, :-2], columns[2:] - columns[:-2]).std()


def contrast_curve(x, y, t, resolution, durations):
    """Return the mean contrast per length of frame, one frame after the other."""
    curve = []
    for duration in durations:
        window = (t - t[0]) // duration
        contrasts = []
        for index in np.unique(window):
            fired = np.zeros((resolution[1], resolution[0]), bool)
            fired[y[window == index], x[window == index]] = True
            contrasts.append(frame_contrast(fired))
        curve.append(np.mean(contrasts))
    return np.array(curve)
