"""Error of the motion, without noise and with as much noise as signal. Prints JSON.

Command: ``python -m benchmarks.quality.motion [--scenes 18] [--seeds 3]``. Tables go to stderr.

Compared: methods without prior motion on the scenes of `benchmarks.quality.scenes`, except stripes.
The error is the distance between warped and true positions, px, root mean square over view and window.

auto, cmax        with their defaults
eja               as published: bilinear votes, one step of Adam per round; with the true share of signal
eja, smooth map   with a spline of the same width: bilinear votes are sharpest on whole pixels, which
                  traps solvers
eja, converged    smooth map, and full maximization in every round instead of one step

Floor: an error of 0, the true motion. Seeds of a scene share texture and motion. The 95 % intervals
are therefore over scenes, of the means over seeds (Student's t).
"""

import argparse
import logging
import math
import time
from collections import defaultdict

import numpy as np
from benchmarks.measure import print_table, report
from benchmarks.quality import scenes
from scipy import stats

import evcrisp
from evcrisp.contrast import ContrastMap
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.baselines.eja import Eja

#: Motion along stripes is unobservable.
NO_MOTION = "stripes"

#: Variances of the footprints: a tent 1/6, a quadratic B-spline 1/4 px^2; the blur of the tent is 1 px.
SMOOTH = ContrastMap(footprint="spline", sigma_px=math.sqrt(1.0 + 1.0 / 6.0 - 1.0 / 4.0))

METHODS = {
    "auto": AutoRegret(),
    "cmax": Cmax(),
    "eja": Eja(tau=0.5),
    "eja, smooth map": Eja(tau=0.5, contrast=SMOOTH),
    "eja, converged": Eja(tau=0.5, contrast=SMOOTH, inner="bfgs"),
}

#: Difference of errors that counts as worse or better, px.
WORSE_PX = 0.01


def clean_errors(chosen):
    """Return the errors of `auto` without noise, by model, px."""
    errors = defaultdict(list)
    for i in chosen:
        case = scenes.simulated(i, 0.0)
        theta = AutoRegret().run(case.window, case.model).theta
        errors[scenes.scene_settings(i)["motion"]].append(case.warp_error_px(theta))
    all_errors = np.concatenate(list(errors.values()))
    return {
        "mean": float(np.mean(all_errors)),
        "max": float(np.max(all_errors)),
        "max_by_model": {model: float(np.max(values)) for model, values in errors.items()},
    }


def noisy_errors(chosen, n_seeds):
    """Return the errors of each method with as much noise as signal, shape (scenes, seeds), px."""
    errors = {name: np.zeros((len(chosen), n_seeds)) for name in METHODS}
    for row, i in enumerate(chosen):
        for seed in range(n_seeds):
            settings = {**scenes.scene_settings(i), "seed": 1000 * (seed + 1) + i}
            scene = evcrisp.simulate(**settings, noise_share=1.0)
            window = Window(scene.events, 0, scenes.DURATION_US)
            for name, method in METHODS.items():
                theta = method.run(window, scene.motion).theta
                errors[name][row, seed] = scene.warp_error_px(theta, 0, scenes.DURATION_US)
    return errors


def over_scenes(errors):
    """Return the mean, and its 95 % interval over scenes, of errors of shape (scenes, seeds)."""
    means = errors.mean(axis=1)
    n = means.size
    interval = None
    if n > 1:
        interval = float(stats.t.ppf(0.975, n - 1) * means.std(ddof=1) / math.sqrt(n))
    return {"mean": float(means.mean()), "interval_95": interval}


def paired(differences, names):
    """Return mean, interval and worst pair of differences of shape (scenes, seeds)."""
    row, seed = np.unravel_index(np.argmax(differences), differences.shape)
    return {
        **over_scenes(differences),
        "worst_pair_px": float(differences[row, seed]),
        "worst_pair": f"{names[row]}, seed {seed}",
        "share_worse_by_0.01_px": float(np.mean(differences > WORSE_PX)),
        "share_better_by_0.01_px": float(np.mean(differences < -WORSE_PX)),
    }


def motion_errors(n_scenes, n_seeds):
    """Return the error of the motion without noise, and with as much noise as signal, px."""
    chosen = [i for i in range(n_scenes) if scenes.scene_settings(i)["texture"] != NO_MOTION]
    names = [scenes.name_of(i) for i in chosen]
    noisy = noisy_errors(chosen, n_seeds)
    others = [name for name in noisy if name != "auto"]
    return {
        "scenes": len(chosen),
        "seeds": n_seeds,
        "without_noise": clean_errors(chosen),
        "with_100_percent_noise": {
            name: {**over_scenes(errors), "max": float(errors.max())}
            for name, errors in noisy.items()
        },
        "auto_minus": {name: paired(noisy["auto"] - noisy[name], names) for name in others},
        "by_scene": {
            scene: {name: errors[row].tolist() for name, errors in noisy.items()}
            for row, scene in enumerate(names)
        },
    }


def show(motion):
    """Print a table to stderr."""
    pairs = motion["auto_minus"]
    rows = []
    for name, row in motion["with_100_percent_noise"].items():
        cells = [name, _interval(row), f"{row['max']:.3f}"]
        if name in pairs:
            pair = pairs[name]
            shares = (pair[f"share_{word}_by_0.01_px"] for word in ("worse", "better"))
            cells += [_interval(pair, "+"), f"{pair['worst_pair_px']:+.3f}"]
            cells += [f"{100.0 * share:.0f} %" for share in shares]
        rows.append(cells + [""] * (7 - len(cells)))
    header = ["method", "error", "max", "auto minus it", "worst pair", "auto worse", "auto better"]
    title = f"Motion with 100 % noise, {motion['scenes']} scenes, {motion['seeds']} seeds, px"
    print_table(title, header, rows)


def _interval(row, sign=""):
    half = row["interval_95"]
    return f"{row['mean']:{sign}.4f}" + ("" if half is None else f" ± {half:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenes", type=int, default=scenes.N_SCENES)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # rotations without a calibration
    start = time.perf_counter()
    motion = motion_errors(options.scenes, options.seeds)
    show(motion)
    report("motion", motion, **vars(options), seconds=round(time.perf_counter() - start))


if __name__ == "__main__":
    main()
