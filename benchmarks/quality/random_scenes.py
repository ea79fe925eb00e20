"""Labels and motions of random scenes: cameras, objects, textures, noise, sensors and window lengths.

Command: ``python -m benchmarks.quality.random_scenes [--scenes 120] [--first 0] [-o FILE]``. Table to the
terminal, a row per scene to FILE (JSON).

The other benchmarks have scenes that were chosen. Here all settings are drawn: a camera at rest, one
that translates (80 to 500 px/s), creeps (15 to 80 px/s), turns and zooms, or rotates; none to three objects
of 8 to 45 % of the sides of the view; contrast thresholds, noise of 0.5 to 20 Hz/px, windows of 10 to
50 ms, sensors of 128x128 to 640x480. Many of them are hard: slow edges in noise, fast objects in long windows,
soft textures. Filters have seen 40 ms before the window. The scene of a number never changes.

An object counts if it has more than 200 events. Trusted events are those of a layer without doubts, in a
reliable result; they are wrong if their motion is off by more than 3 px over the window.
"""

import argparse

import numpy as np
from benchmarks.measure import print_table, write_report
from benchmarks.quality.label_measures import label_measures, motion_measures, worst_object

import evcrisp
from evcrisp.core.windows import Window
from evcrisp.filters import denoise
from evcrisp.simulation import ObjectConfig

HISTORY_US = 40_000
TEXTURES = ("shapes", "dots", "rocks", "checkerboard", "star")
RESOLUTIONS = ((346, 260), (346, 260), (240, 180), (640, 480), (128, 128))
FILTERS = ("stcf", "ebf", "pugm")
LEAST_EVENTS, WRONG_PX = 200, 3.0
KEYS = ("auc", "sensitivity", "specificity", "error_px", "share_above_3_px")


def settings_of(number):
    """Return the settings of scene ``number`` for `evcrisp.simulate`, and the length of its window."""
    rng = np.random.default_rng(number)
    camera = rng.choice(
        ["still", "moving", "slow", "similarity", "rotation"], p=[0.2, 0.35, 0.1, 0.2, 0.15]
    )
    settings = {"contrast": 3.2, "texture": str(rng.choice(TEXTURES))}
    if camera in ("similarity", "rotation"):
        settings["motion"] = str(camera)
    if camera == "similarity":
        turn, growth = rng.uniform(-3.0, 3.0), rng.uniform(-1.5, 1.5)
        settings["theta"] = (*rng.uniform(-200.0, 200.0, 2).tolist(), turn, growth)
    elif camera == "rotation":
        settings["theta"] = tuple(rng.uniform(-1.2, 1.2, 3).tolist())
    else:
        speed = {"still": (0.0, 0.0), "moving": (80.0, 500.0), "slow": (15.0, 80.0)}[str(camera)]
        settings["theta"] = _direction(rng, rng.uniform(*speed))
    n_objects = max(int(rng.choice([0, 1, 1, 2, 3])), camera == "still")
    settings["objects"] = tuple(_object(rng) for _ in range(n_objects))
    settings["noise_hz"] = float(rng.choice([0.5, 2.0, 5.0, 10.0, 20.0]))
    settings["feature_px"] = float(rng.uniform(18.0, 50.0))
    settings["c_on"] = settings["c_off"] = float(rng.choice([0.25, 0.35, 0.5]))
    settings["resolution"] = RESOLUTIONS[rng.integers(len(RESOLUTIONS))]
    return settings, int(rng.choice([10_000, 20_000, 30_000, 50_000]))


def _direction(rng, speed):
    angle = rng.uniform(0.0, 2.0 * np.pi)
    return float(speed * np.cos(angle)), float(speed * np.sin(angle))


def _object(rng):
    side = rng.uniform(0.08, 0.45)
    return ObjectConfig(
        motion="similarity",
        theta=(
            *_direction(rng, rng.uniform(60.0, 450.0)),
            rng.uniform(-4.0, 4.0),
            rng.uniform(-1.5, 1.5),
        ),
        center=tuple(rng.uniform(0.2, 0.8, 2).tolist()),
        size=(side, side * rng.uniform(0.7, 1.4)),
        texture=str(rng.choice(TEXTURES)),
        outline=str(rng.choice(["ellipse", "rectangle"])),
    )


def measure(number):
    """Return the measures of one scene by method."""
    settings, length_us = settings_of(number)
    scene = evcrisp.simulate(
        **settings, duration_us=HISTORY_US + length_us, window_us=length_us, seed=number
    )
    first = int(np.searchsorted(scene.events.t, HISTORY_US))
    own = slice(first, None)
    window = Window(scene.events[own], HISTORY_US, HISTORY_US + length_us, first)
    signal, objects = np.asarray(window.events.signal), scene.object[own]
    result, duration_s = evcrisp.estimate(window), length_us * 1e-6
    row = label_measures(result.score, result.signal, signal)
    row |= motion_measures(result.velocity, scene.velocity[own], duration_s)
    kept = worst_object(result.signal, np.where(signal, objects, 255), LEAST_EVENTS)[1]
    off_px = duration_s * np.linalg.norm(result.velocity - scene.velocity[own], axis=1)
    is_sure = np.array([not layer.doubts for layer in result.layers] + [False])
    trusted = signal & is_sure[result.layer] & result.reliable
    row |= {
        "worst_object_kept": kept,
        "reliable": result.reliable,
        "n_trusted": int(trusted.sum()),
        "n_trusted_and_wrong": int((off_px[trusted] > WRONG_PX).sum()),
        "motion": result.motion.name,
        "layers": len(result.layers),
        "doubts": [doubt.code for doubt in result.doubts],
    }
    rows = {"auto": row}
    for name in FILTERS:
        labels = denoise(scene.events, name)
        rows[name] = label_measures(labels.score[own], labels.signal[own], signal)
    return {
        "scene": number,
        "n_events": len(signal),
        "share_of_signal": float(signal.mean()),
        "methods": rows,
    }


def summary_of(rows):
    """Return means by method, and shares of scenes and of events."""
    found = [row["methods"]["auto"] for row in rows]
    summary = {
        name: {
            key: float(np.mean([row["methods"][name][key] for row in rows]))
            for key in KEYS
            if key in first
        }
        for name, first in rows[0]["methods"].items()
    }
    best = np.array([max(row["methods"][name]["auc"] for name in FILTERS) for row in rows])
    own = np.array([row["auc"] for row in found])
    n_trusted = np.array([row["n_trusted"] for row in found])
    n_wrong = np.array([row["n_trusted_and_wrong"] for row in found])
    return summary | {
        "scenes in which the best filter labels better, by 0.015 in AUC": float(
            (best > own + 0.015).mean()
        ),
        "scenes in which less than 0.8 of a layer is kept": float(
            np.mean([row["worst_object_kept"] < 0.8 for row in found])
        ),
        "reliable scenes": float(np.mean([row["reliable"] for row in found])),
        "trusted events that are wrong, mean over scenes with any": float(
            (n_wrong[n_trusted > 0] / n_trusted[n_trusted > 0]).mean()
        ),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenes", type=int, default=120, help="number of scenes")
    parser.add_argument("--first", type=int, default=0, help="number of the first scene")
    parser.add_argument("-o", "--output", help="JSON file")
    options = parser.parse_args(arguments)
    rows = [measure(k) for k in range(options.first, options.first + options.scenes)]
    summary = summary_of(rows)
    names = list(rows[0]["methods"])
    table = [
        [name, *(f"{summary[name][key]:.3f}" if key in summary[name] else "" for key in KEYS)]
        for name in names
    ]
    print_table(f"{len(rows)} random scenes, means", ("method", *KEYS), table)
    shares = [[name, f"{value:.3f}"] for name, value in summary.items() if name not in names]
    print_table("Shares, auto", ("of", "share"), shares)
    if options.output:
        write_report(options.output, "random scenes", {"summary": summary, "scenes": rows})
    return summary


if __name__ == "__main__":
    main()
