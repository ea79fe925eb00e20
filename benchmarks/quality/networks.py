"""Labels of the networks and of classical filters on the same events. Prints JSON.

Command: ``python -m benchmarks.quality.networks [--data FOLDER] [--public FILE.pt] [--workers 4]``.

Compared: AUC, sensitivity and specificity on the scenes of `benchmarks.quality.scenes`, on which no
network was trained. Every window starts without history.

baf, stcf, dwf   classical filters with their defaults
mlpf, edncnn     networks with the weights of evcrisp
public           `mlpf` with a public file of weights, if given

Floor: an AUC of 0.5, random scores.
"""

import argparse
import logging
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from benchmarks.measure import report
from benchmarks.quality import scenes

from evcrisp.filters import denoise
from evcrisp.metrics import rank_auc, sensitivity, specificity

METHODS = {name: {} for name in ("baf", "stcf", "dwf", "mlpf", "edncnn")}
LEVELS = (1.0, 5.0, 20.0)


def quality(case, methods):
    """Return the quality of all methods in one window."""
    found = {}
    for method, params in methods.items():
        name = "mlpf" if method == "public" else method
        labels = denoise(case.window.events, name, **params)
        kept, dropped = (f(labels.signal, case.signal) for f in (sensitivity, specificity))
        found[method] = {
            "auc": rank_auc(labels.score, case.signal),
            "sensitivity": kept,
            "specificity": dropped,
            "balanced_accuracy": 0.5 * (kept + dropped),
        }
    return found


def simulated(i, noise_hz, methods):
    return quality(scenes.simulated(i, noise_hz), methods)


def averaged(rows):
    """Return the mean of every measure of every method."""
    return {
        method: {key: float(np.mean([row[method][key] for row in rows])) for key in rows[0][method]}
        for method in rows[0]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("--public", type=Path, help="public weights of MLPF (.pt)")
    parser.add_argument("--scenes", type=int, default=scenes.N_SCENES)
    parser.add_argument("--levels", type=float, nargs="+", default=LEVELS)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    start = time.perf_counter()
    methods = METHODS | ({"public": {"weights": options.public}} if options.public else {})
    cases = [(i, level) for level in options.levels for i in range(options.scenes)]
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        futures = [pool.submit(simulated, *case, methods) for case in cases]
        rows = [future.result() for future in futures]
    by_level = {
        level: averaged([row for row, case in zip(rows, cases, strict=True) if case[1] == level])
        for level in options.levels
    }
    results = {"simulated": averaged(rows), "by_noise_hz": by_level}
    if options.data:
        windows = {
            name: quality(scenes.real(options.data, name), methods) for name in scenes.ECD_ROTATIONS
        }
        results["real"] = {"mean": averaged(list(windows.values())), "windows": windows}
    report(
        "networks",
        results,
        scenes=options.scenes,
        levels=list(options.levels),
        seconds=round(time.perf_counter() - start),
    )


if __name__ == "__main__":
    main()
