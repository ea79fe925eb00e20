"""Labels of `auto` and of filters in windows of real recordings with added noise. Prints JSON.

Command: ``python -m benchmarks.quality.real_labels --data FOLDER [--noise-hz 5] [--place start]``.

Window: the busiest 30 ms of a recording, or those that end 150 ms after its start; the second half of a
recording that is shorter than 60 ms. Noise is uniform in the live area. Positives are all recorded events, also those that are noise, so that no method reaches
an AUC of 1. Filters are warm: they have labeled the events before. `auto` and `exact` see the window only;
`auto` has its defaults, `exact` a translation.

Floor: an AUC of 0.5, random scores.
"""

import argparse
import logging
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table, report
from benchmarks.quality.filters import with_uniform_noise
from benchmarks.quality.laws import RECORDINGS

import evcrisp
from evcrisp.filters import denoise
from evcrisp.metrics import rank_auc

FILTERS = ("stcf", "ebf", "dbscan", "pugm")
HISTORY_US, WINDOW_US = 120_000, 30_000

#: AUC that makes a difference.
TIE = 0.01


def read_span(path, place):
    """Return the events of a window and before it, in the live area of the recording."""
    if path.is_dir() and path.parent.name == "ecd":
        path = next(path.glob("events*"))
    events = evcrisp.read(path).with_signal(None)
    end = int(events.t[0]) + HISTORY_US + WINDOW_US
    if place == "busiest":
        starts = np.arange(events.t[0], events.t[-1] + 1, WINDOW_US)
        counts = np.diff(np.searchsorted(events.t, np.append(starts, starts[-1] + WINDOW_US)))
        end = int(starts[counts.argmax()]) + WINDOW_US
    span = events.between(end - HISTORY_US - WINDOW_US, end)
    return evcrisp.LiveArea.of(events).crop(span)


def quality(events, noise_hz):
    """Return the AUC of every method in the window at the end of the events."""
    noisy, original = with_uniform_noise(events, noise_hz, seed=0)
    duration_us = int(noisy.t[-1] - noisy.t[0])
    start = int(noisy.t[-1]) + 1 - min(WINDOW_US, duration_us // 2)
    inside = noisy.t >= start
    window, truth = noisy[inside], original[inside]
    scores = {
        "auto": evcrisp.estimate(window).score,
        "exact": evcrisp.estimate(window, "exact").score,
        **{name: denoise(noisy, name).score[inside] for name in FILTERS},
    }
    return {name: rank_auc(score, truth) for name, score in scores.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of real recordings")
    parser.add_argument("--noise-hz", type=float, default=5.0)
    parser.add_argument("--place", choices=("busiest", "start"), default="busiest")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    table = {
        Path(name).stem: quality(read_span(options.data / name, options.place), options.noise_hz)
        for name in RECORDINGS
        if (options.data / name).exists()
    }
    gains = {
        name: row["auto"] - max(value for key, value in row.items() if key != "auto")
        for name, row in table.items()
    }
    names = ["auto", "exact", *FILTERS]
    rows = [[name, *(f"{row[key]:.3f}" for key in names), f"{gains[name]:+.3f}"]
            for name, row in table.items()]  # fmt: skip
    print_table("AUC, and auto minus the best of the others", ["", *names, "gain"], rows)
    values = np.array(list(gains.values()))
    results = {
        "windows": table,
        "mean": {key: float(np.mean([row[key] for row in table.values()])) for key in names},
        "auto_better": int((values > TIE).sum()),
        "auto_worse": int((values < -TIE).sum()),
        "tie": int((np.abs(values) <= TIE).sum()),
    }
    report("real_labels", results, noise_hz=options.noise_hz, place=options.place)


if __name__ == "__main__":
    main()
