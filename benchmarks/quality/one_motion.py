"""Part `one` of `benchmarks.quality.many_motions`: windows with one motion lose nothing.

Compared: the default, which looks for the kind of motion, with the model given, on the scenes of
`benchmarks.quality.scenes`, and on real windows of a rotating camera with as much noise as events.
The default does not know the calibration of the camera; the given model does. Motion errors are
those of the true signal, px over the window, without stripes, along which no motion can be seen.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table
from benchmarks.quality import scenes
from benchmarks.quality.label_measures import label_measures, motion_measures
from benchmarks.quality.motion import NO_MOTION
from benchmarks.quality.targets import Target, show_targets

import evcrisp
from evcrisp.core.windows import Window

METHODS = ("auto", "given model")
KEYS = ("auc", "sensitivity", "specificity", "balanced_accuracy")

#: Loss that counts as none: AUC, and px.
_SAME_AUC, _SAME_PX = 0.001, 0.01


def measure(data_dir, only=None, repeats=1, n_scenes=scenes.N_SCENES, levels=scenes.NOISE_HZ):
    """Return measures and targets of windows with one motion; print tables."""
    rows = [
        measure_scene(i, noise_hz)
        for i in range(n_scenes)
        for noise_hz in levels
        if not only or scenes.name_of(i) in only
    ]
    if not rows:
        print("one motion: left out, none of its scenes was chosen", file=sys.stderr)
        return {}
    result = {"simulated": rows, "summary": {m: _summary(rows, m) for m in METHODS}}
    result["share_with_one_motion"] = float(np.mean([row["layers"] == 1 for row in rows]))
    result["models"] = dict(Counter(f"{row['model']} -> {row['found']}" for row in rows))
    targets = _simulated_targets(result)
    if Path(data_dir, "ecd").is_dir():
        result["real"] = {name: measure_real(data_dir, name) for name in scenes.ECD_ROTATIONS}
        targets += _real_targets(result["real"])
    else:
        print("real windows: left out, no folder `ecd` in the data", file=sys.stderr)
    _show(result)
    show_targets("Targets of one motion", targets)
    return result | {"targets": [target.as_dict() for target in targets]}


def measure_scene(i, noise_hz):
    """Return the measures of both methods on scene i."""
    settings = scenes.scene_settings(i)
    scene = evcrisp.simulate(**settings, noise_hz=noise_hz)
    window = Window(scene.events, 0, scenes.DURATION_US)
    found, given = evcrisp.estimate(window), evcrisp.estimate(window, motion=scene.motion)
    row = {
        "scene": scenes.name_of(i),
        "noise_hz": noise_hz,
        "model": settings["motion"],
        "found": found.motion.name if len(found.layers) == 1 else "several",
        "layers": len(found.layers),
        "sees_motion": settings["texture"] != NO_MOTION,
    }
    for method, result in zip(METHODS, (found, given), strict=True):
        row[method] = label_measures(result.score, result.signal, scene.events.signal)
        duration_s = 1e-6 * scenes.DURATION_US
        row[method] |= motion_measures(result.velocity, scene.velocity, duration_s)
    return row


def measure_real(data_dir, name):
    """Return the measures of both methods on a real window with 100 % noise."""
    case = scenes.real(Path(data_dir), name)
    found = evcrisp.estimate(case.window)
    given = evcrisp.estimate(case.window, motion=case.model)
    measures = {
        method: label_measures(result.score, result.signal, case.signal)
        for method, result in zip(METHODS, (found, given), strict=True)
    }
    return measures | {"layers": len(found.layers)}


def _summary(rows, method):
    """Return means over scenes and levels, and the scenes that do worst."""
    summary = {key: float(np.mean([row[method][key] for row in rows])) for key in KEYS}
    seen = [row for row in rows if row["sees_motion"]]
    errors = [row[method]["error_px"] for row in seen]
    if errors:
        summary |= {"error_px": float(np.mean(errors)), "largest_error_px": max(errors)}
        worst = seen[int(np.argmax(errors))]
        summary["largest_error_scene"] = f"{worst['scene']}, {worst['noise_hz']:g} Hz/px"
    lowest = min(rows, key=lambda row: row[method]["auc"])
    summary["lowest_auc"] = lowest[method]["auc"]
    summary["lowest_auc_scene"] = f"{lowest['scene']}, {lowest['noise_hz']:g} Hz/px"
    return summary


def _simulated_targets(result):
    auto, given = (result["summary"][method] for method in METHODS)
    loss_px = auto.get("error_px", 0.0) - given.get("error_px", 0.0)
    return [
        Target(name="AUC, one motion", value=auto["auc"], least=0.9865),
        Target(name="balanced accuracy, one motion", value=auto["balanced_accuracy"], least=0.94),
        Target(name="loss of AUC", value=given["auc"] - auto["auc"], most=_SAME_AUC),
        Target(name="loss of motion, px", value=loss_px, most=_SAME_PX),
    ]


def _real_targets(real):
    means = {key: float(np.mean([row["auto"][key] for row in real.values()])) for key in KEYS}
    return [Target(name="AUC, ECD + 100 % noise", value=means["auc"], least=0.92)]


def _show(result):
    rows = []
    for level in sorted({row["noise_hz"] for row in result["simulated"]}):
        here = [row for row in result["simulated"] if row["noise_hz"] == level]
        pairs = [_summary(here, method) for method in METHODS]
        one = np.mean([row["layers"] == 1 for row in here])
        rows.append([f"{level:g} Hz/px", *_cells(pairs), f"{one:.2f}"])
    rows.append(
        [
            "mean",
            *_cells([result["summary"][method] for method in METHODS]),
            f"{result['share_with_one_motion']:.2f}",
        ]
    )
    for name, row in result.get("real", {}).items():
        cells = _cells([row[method] for method in METHODS])
        rows.append([name, *cells, f"{row['layers']} layers"])
    head = ["", "AUC", "balanced accuracy", "motion error, px", "one motion"]
    print_table("One motion: the default / the given model", head, rows)
    worst = sorted(
        (row for row in result["simulated"] if row["sees_motion"]),
        key=lambda row: row["given model"]["error_px"] - row["auto"]["error_px"],
    )[:6]
    lines = [
        [
            f"{row['scene']}, {row['noise_hz']:g} Hz/px",
            row["found"],
            str(row["layers"]),
            *_cells([row[method] for method in METHODS]),
        ]
        for row in worst
    ]
    head = ["scene", "found", "layers", "AUC", "balanced accuracy", "motion error, px"]
    print_table("Largest losses of motion", head, lines)


def _cells(pair):
    keys = ("auc", "balanced_accuracy", "error_px")
    return [
        " / ".join(f"{row[key]:.4f}" if key in row else "" for row in pair).strip(" /")
        for key in keys
    ]
