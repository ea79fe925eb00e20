"""Labels of filters that have seen the recording before the window that counts. Prints JSON.

Command: ``python -m benchmarks.quality.filters [--recording FILE] [--methods NAME ...]``.

Compared: AUC, balanced accuracy of the labels, and the time per event, on simulated scenes of 90 ms
with 5 Hz/px of uniform noise (mean of three seeds), and on a real recording with added uniform
noise, where signal means original events. A filter runs over the whole scene; only the last 30 ms
count. Of a recording the windows of 40 ms count, except for the first 60 ms; if it has labels, its
own noise does not count.

one motion    a plane that moves by (300, -120) px/s
two motions   the same with an object in front that moves by (-300, 120) px/s
turning       a texture of rocks that turns by 3 rad/s and grows

Floor: an AUC of 0.5, random scores.
"""

import argparse
import itertools
import statistics
from pathlib import Path

import numpy as np
from benchmarks.measure import interleaved, report

import evcrisp
from evcrisp.filters import denoise
from evcrisp.metrics import rank_auc, sensitivity, specificity

METHODS = (
    "baf", "stcf", "ynoise", "dwf", "ts", "ebf", "pfd", "pfd-b", "pfdslices", "pfdslices-b", "pugm",
    "dbscan",
)  # fmt: skip
SCENES = {
    "one motion": {"theta": (300.0, -120.0)},
    "two motions": {"theta": (300.0, -120.0), "object_theta": (-300.0, 120.0)},
    "turning": {"motion": "similarity", "theta": (100.0, 50.0, 3.0, 0.5), "texture": "rocks"},
}
HISTORY_US, WINDOW_US, FRAME_US = 60_000, 30_000, 40_000


def labels_of(events, method):
    """Return the labels of a filter with its defaults; "-b" means the second rule of `pfd`."""
    name, _, variant = method.partition("-")
    return denoise(events, name, **({"flicker": True} if variant else {}))


def quality(labels, truth, chosen):
    """Return the measures of the chosen events."""
    signal, truth = labels.signal[chosen], truth[chosen]
    return {
        "auc": float(rank_auc(labels.score[chosen], truth)),
        "balanced_accuracy": float(0.5 * (sensitivity(signal, truth) + specificity(signal, truth))),
        "sensitivity": float(sensitivity(signal, truth)),
    }


def mean_of(rows):
    return {key: statistics.mean(row[key] for row in rows) for key in rows[0]}


def simulated(settings, noise_hz, methods, seeds):
    """Return the measures of all methods in the last part of a scene."""
    rows = {method: [] for method in methods}
    for seed in range(seeds):
        scene = evcrisp.simulate(
            **settings, duration_us=HISTORY_US + WINDOW_US, noise_hz=noise_hz, seed=seed
        )
        events = scene.events
        chosen = slice(int(np.searchsorted(events.t, HISTORY_US)), None)
        for method in methods:
            rows[method].append(quality(labels_of(events, method), events.signal, chosen))
    times = interleaved({m: lambda m=m: labels_of(events, m) for m in methods})
    return {
        method: mean_of(rows[method])
        | {"ns_per_event": 1e9 * statistics.median(times[method]) / len(events)}
        for method in methods
    }


def with_uniform_noise(events, noise_hz, seed):
    """Add uniform noise; return events, and True for the original ones."""
    rng = np.random.default_rng(seed)
    t_first, t_last = int(events.t[0]), int(events.t[-1]) + 1
    n = rng.poisson(noise_hz * events.width * events.height * (t_last - t_first) / 1e6)
    columns = {
        "x": rng.integers(0, events.width, n),
        "y": rng.integers(0, events.height, n),
        "t": rng.integers(t_first, t_last, n),
        "p": rng.integers(0, 2, n).astype(bool),
    }
    merged = {name: np.concatenate((getattr(events, name), columns[name])) for name in columns}
    order = np.argsort(merged["t"], kind="stable")
    noisy = {name: column[order] for name, column in merged.items()}
    return evcrisp.Events(**noisy, resolution=events.resolution), order < len(events)


def recorded(events, noise_hz, methods):
    """Return the mean measures over the windows of a recording with added noise."""
    noisy, truth = with_uniform_noise(events, noise_hz, seed=0)
    counts = np.ones(len(noisy), bool)
    if events.signal is not None:
        counts[truth] = events.signal
    starts = np.arange(noisy.t[0] + HISTORY_US, noisy.t[-1] - FRAME_US, FRAME_US)
    edges = np.searchsorted(noisy.t, np.append(starts, starts[-1] + FRAME_US))
    windows = [a + np.flatnonzero(counts[a:b]) for a, b in itertools.pairwise(edges)]
    result = {}
    for method in methods:
        labels = labels_of(noisy, method)
        result[method] = mean_of([quality(labels, truth, window) for window in windows])
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--noise-hz", type=float, default=5.0, help="of the simulated scenes")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--recording", type=Path, help="real recording to measure as well")
    parser.add_argument("--added-hz", type=float, nargs="+", default=(2.0, 10.0))
    options = parser.parse_args()
    results = {
        name: simulated(settings, options.noise_hz, options.methods, options.seeds)
        for name, settings in SCENES.items()
    }
    if options.recording:
        events = evcrisp.read(options.recording)
        for rate in options.added_hz:
            results[f"recording + {rate:g} Hz/px"] = recorded(events, rate, options.methods)
    report("filter quality", results, noise_hz=options.noise_hz, seeds=options.seeds)


if __name__ == "__main__":
    main()
