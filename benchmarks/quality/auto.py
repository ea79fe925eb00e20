"""Labels and motion of the default method and of others on the same events. Prints JSON.

Command: ``python -m benchmarks.quality.auto [--data FOLDER] [--scenes 18] [--seeds 3] [--history-ms 60]``.

Compared: methods with the true motion model, but without prior motion, on the scenes of
`benchmarks.quality.scenes`. Filters start without history in every window, unless ``--history-ms`` gives
them that of a simulated scene; the other methods see the window only. Errors of the motion are those of
`benchmarks.quality.motion`.

auto    the default, with one configuration for all scenes
exact   `exact` with its defaults: a threshold on the contrast map of both polarities
eja     `eja` with the true share of signal
baf     background activity filter, 5 ms
stcf    two of eight neighbors of the same polarity within 10 ms
ebf     decaying events of the same polarity in 25 pixels
pugm    a probabilistic graph of pixels and bins of 4 ms

Floor: an AUC of 0.5, random scores.
"""

import argparse
import logging
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from benchmarks.measure import interleaved, report
from benchmarks.quality import scenes
from benchmarks.quality.motion import motion_errors, show

import evcrisp
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.auto.event_evidence import compute_evidence
from evcrisp.estimators.baselines.eja import Eja
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.filters import denoise
from evcrisp.metrics import rank_auc, sensitivity, specificity
from evcrisp.motion import motion_model
from evcrisp.search.search import find_motion
from evcrisp.search.window_data import WindowData

FILTERS = {"baf": {"tau_us": 5_000}, "stcf": {}, "ebf": {}, "pugm": {}}
METHODS = ("auto", "exact", "eja", *FILTERS)


def labels_of(method, case):
    """Return labels and scores of a method, and its motion if it has one."""
    if method in FILTERS:
        events = case.window.events if case.recording is None else case.recording
        found = denoise(events, method, **FILTERS[method])
        inside = slice(len(events) - len(case.signal), None)
        return found.signal[inside], found.score[inside], None
    estimators = {
        "auto": AutoRegret(),
        "exact": ExactRegret(),
        "eja": Eja(tau=float(case.signal.mean())),
    }
    found = estimators[method].run(case.window, case.model)
    return found.signal, found.score, found.theta


def quality(case, methods=METHODS):
    """Return the quality of all methods in one window."""
    measures = {}
    for method in methods:
        signal, score, theta = labels_of(method, case)
        measures[method] = {
            "auc": rank_auc(score, case.signal),
            "sensitivity": sensitivity(signal, case.signal),
            "specificity": specificity(signal, case.signal),
        }
        if method == "auto" and case.warp_error_px is not None:
            measures[method]["error_px"] = case.warp_error_px(theta)
    return measures


def averaged(rows):
    """Return the mean of every measure of every method, and the balanced accuracy."""
    means = {}
    for method in rows[0]:
        keys = ("auc", "sensitivity", "specificity")
        mean = {key: float(np.mean([row[method][key] for row in rows])) for key in keys}
        mean["balanced_accuracy"] = 0.5 * (mean["sensitivity"] + mean["specificity"])
        means[method] = mean
    return means


def simulated_scenes(n_scenes, levels, first=0, history_us=0):
    """Return means per level of noise, the worst scenes of `auto`, and its mean AUC."""
    by_level, by_scene = {}, defaultdict(list)
    for noise_hz in levels:
        rows = []
        for i in range(first, first + n_scenes):
            case = scenes.simulated(i, noise_hz, history_us)
            rows.append(quality(case))
            by_scene[case.name].append(rows[-1]["auto"])
        by_level[noise_hz] = averaged(rows)
    table = {
        name: {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        for name, rows in by_scene.items()
    }
    worst = sorted(table, key=lambda name: table[name]["auc"])[:5]
    return {
        "mean_auc": {
            method: float(np.mean([level[method]["auc"] for level in by_level.values()]))
            for method in METHODS
        },
        "by_noise_hz": by_level,
        "auto_by_scene": table,
        "auto_worst_scenes": worst,
    }


def real_windows(data_dir):
    """Return the quality in real windows with 100 % added noise."""
    table = {name: quality(scenes.real(data_dir, name)) for name in scenes.ECD_ROTATIONS}
    return {"windows": table, "mean": averaged(list(table.values()))}


def extremes(n_scenes, levels):
    """Return the rates for noise alone, for signal alone, and for hot pixels."""
    rng = np.random.default_rng(0)
    width, height = scenes.RESOLUTION
    model = motion_model("translation", scenes.RESOLUTION)
    seconds = 1e-6 * scenes.DURATION_US
    noise_alone = {}
    for noise_hz in levels:
        dropped = []
        for _ in range(5):
            n = rng.poisson(noise_hz * seconds * width * height)
            events = evcrisp.Events(
                x=rng.integers(0, width, n),
                y=rng.integers(0, height, n),
                t=np.sort(rng.integers(0, scenes.DURATION_US, n)),
                p=rng.integers(0, 2, n).astype(bool),
                resolution=scenes.RESOLUTION,
            )
            result = AutoRegret().run(Window(events, 0, scenes.DURATION_US), model)
            dropped.append(1.0 - result.signal.mean())
        noise_alone[noise_hz] = {"mean": float(np.mean(dropped)), "min": float(np.min(dropped))}
    kept, hot = [], []
    for i in range(n_scenes):
        case = scenes.simulated(i, 0.0)
        kept.append(float(AutoRegret().run(case.window, case.model).signal.mean()))
        scene = evcrisp.simulate(**scenes.scene_settings(i), hot_pixels=100, hot_hz=500.0)
        window = Window(scene.events, 0, scenes.DURATION_US)
        signal = AutoRegret().run(window, scene.motion).signal
        hot.append(specificity(signal, np.asarray(scene.events.signal)))
    return {
        "specificity_of_noise_alone": noise_alone,
        "sensitivity_without_noise": {"mean": float(np.mean(kept)), "min": min(kept)},
        "specificity_of_100_hot_pixels": {"mean": float(np.mean(hot)), "min": min(hot)},
    }


def timing(repeats):
    """Return the time of the parts of one window of about 40 000 events, ms."""
    case = scenes.simulated(11, 0.5)
    data = WindowData.of(case.window, case.model)
    everything = np.ones(len(data), bool)
    calls = {
        "auto, cold": lambda: AutoRegret().run(case.window, case.model),
        "auto, warm": lambda: AutoRegret().run(case.window, case.model, case.theta),
        "search alone, cold": lambda: find_motion(data),
        "labels alone": lambda: compute_evidence(
            data, case.window.events, case.theta, supporting=everything, false_alarm=0.1
        ),
    }
    seconds = interleaved(calls, repeats, warm_up=2)
    return {
        "n_events": len(data),
        "median_ms": {name: 1e3 * float(np.median(times)) for name, times in seconds.items()},
        "min_ms": {name: 1e3 * min(times) for name, times in seconds.items()},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("--scenes", type=int, default=scenes.N_SCENES)
    parser.add_argument("--first", type=int, default=0, help="first scene with labels")
    parser.add_argument("--levels", type=float, nargs="+", default=scenes.NOISE_HZ)
    parser.add_argument("--seeds", type=int, default=3, help="seeds of the motion errors")
    parser.add_argument("--history-ms", type=int, default=0, help="time that filters see before")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    start = time.perf_counter()
    history_us = 1000 * options.history_ms
    results = {
        "simulated": simulated_scenes(options.scenes, options.levels, options.first, history_us),
        "extremes": extremes(options.scenes, options.levels),
        "motion": motion_errors(options.scenes, options.seeds),
        "timing": timing(options.repeats),
    }
    show(results["motion"])
    if options.data:
        results["real"] = real_windows(options.data)
    settings = {key: value for key, value in vars(options).items() if key != "data"}
    report("auto", results, **settings, seconds=round(time.perf_counter() - start))


if __name__ == "__main__":
    main()
