"""Part `scenes` of `benchmarks.quality.many_motions`: labels and motion of simulated scenes.

Compared on the last 30 ms of every scene:

auto              the default: finds one motion or several
auto, tracked     the same with the two windows before it, in a stream
auto, one motion  ``motion="translation"``
stcf, ebf, pugm   filters with their defaults, which have seen the 60 ms before

The ceiling is the AUC of plain support at the true velocities, and the share of the worst object that
it keeps at a specificity of 0.93; see `benchmarks.quality.plain_support`. "Alone" is the motion error
of similarities that are fitted to each true layer; see `benchmarks.quality.motion_alone`. Velocity
fields are no similarity, and have none.
A motion error is that of the true signal, px over the window, whatever the labels.
"""

import sys
from pathlib import Path

import numpy as np
from benchmarks.measure import interleaved, print_table
from benchmarks.quality import many_motion_scenes as scenes
from benchmarks.quality.label_measures import (
    digest,
    label_measures,
    motion_measures,
    worst_object,
)
from benchmarks.quality.motion_alone import motion_alone
from benchmarks.quality.plain_support import ceiling
from benchmarks.quality.targets import Target, show_targets

import evcrisp
from evcrisp.filters import denoise

MOTIONS = {"auto": "auto", "auto, one motion": "translation"}
FILTERS = ("stcf", "ebf", "pugm")
TRACKED = "auto, tracked"
DURATION_S = scenes.WINDOW_US * 1e-6

#: Two opposite motions on the command line; its window is the first one.
LINE = {"theta": (300.0, -120.0), "object_theta": (-300.0, 120.0), "noise_hz": 5.0, "seed": 3}


def measure(data_dir, only=None, repeats=3):
    """Return the measures of all scenes and methods, with means and targets; print tables."""
    names, table = list(only or scenes.SCENES), {}
    for name in names:
        if name == scenes.MEASURED and not Path(data_dir, "iebcs-noise").is_dir():
            print(f"{name}: left out, no files of measured noise", file=sys.stderr)
            continue
        simulation, window = scenes.scene(name, data_dir)
        table[name] = measure_scene(simulation, window, repeats)
        table[name]["methods"][TRACKED] = _of_stream(simulation)
        _show_scene(name, table[name])
    summary = {method: _summary(table, method) for method in _methods(table)}
    line = measure_line(repeats)
    targets = targets_of(summary["auto"], line)
    _show(table, summary, line)
    show_targets("Targets of the scenes", targets)
    return {
        "scenes": table,
        "summary": summary,
        "line": line,
        "targets": [target.as_dict() for target in targets],
    }


def measure_scene(simulation, window, repeats):
    """Return the measures of one scene."""
    truth = scenes.truth(simulation, window)
    results, rows = {}, {}
    calls = {
        method: lambda motion=motion: evcrisp.estimate(window, motion=motion)
        for method, motion in MOTIONS.items()
    }
    seconds = interleaved(calls, repeats)
    for method, call in calls.items():
        results[method] = call()
        rows[method] = _of_estimate(results[method], truth) | {"ms": 1e3 * min(seconds[method])}
    rows["auto"]["repeatable"] = digest(calls["auto"]()) == digest(results["auto"])
    for name in FILTERS:
        labels = denoise(simulation.events, name)
        own = slice(window.index, window.index + len(window.events))
        rows[name] = _of_labels(labels.score[own], labels.signal[own], truth)
    has_field = simulation.config.field is not None
    bounds = ceiling(window, truth) | ({} if has_field else motion_alone(window, truth))
    return bounds | {
        "n_events": len(window.events),
        "share_of_signal": float(truth["signal"].mean()),
        "n_true_layers": int(np.unique(truth["object"][truth["signal"]]).size),
        "methods": rows,
    }


def measure_line(repeats):
    """Return the measures of the two opposite motions of the command line, first 30 ms."""
    scene = evcrisp.simulate(**LINE)
    window = next(evcrisp.by_time(scene.events, scenes.WINDOW_US))
    return measure_scene(scene, window, repeats)


def _of_stream(simulation):
    """Return the measures of the last window of a stream."""
    last = None
    windowing = evcrisp.Windowing(window_us=scenes.WINDOW_US)
    for result in evcrisp.track(simulation.events, windowing=windowing):
        # The stream starts with the first event, so that its last window may be a short rest.
        if result.window.t_end - result.window.t_start > 0.9 * scenes.WINDOW_US:
            last = result
    return _of_estimate(last, scenes.truth(simulation, last.window))


def _of_estimate(result, truth):
    measures = _of_labels(result.score, result.signal, truth)
    motion = motion_measures(result.velocity, truth["velocity"], DURATION_S)
    return measures | motion | {"layers": len(result.layers), "status": result.status.value}


def _of_labels(score, labels, truth):
    measures = label_measures(score, labels, truth["signal"])
    worst, kept = worst_object(labels, truth["object"])
    return measures | {"worst_object": worst, "worst_object_kept": kept}


def _methods(table):
    return list(next(iter(table.values()))["methods"])


def _summary(table, method):
    """Return mean, smallest and largest of every measure over the scenes."""
    rows = {name: scene["methods"][method] for name, scene in table.items()}
    summary = {"mean_ceiling_auc": float(np.mean([row["ceiling_auc"] for row in table.values()]))}
    for key, value in next(iter(rows.values())).items():
        if isinstance(value, (str, bool)) or key == "worst_object":
            continue
        values = {name: row[key] for name, row in rows.items()}
        summary[key] = {
            "mean": float(np.mean(list(values.values()))),
            "min": min(values.values()),
            "min_scene": min(values, key=values.__getitem__),
            "max": max(values.values()),
            "max_scene": max(values, key=values.__getitem__),
        }
    summary["repeatable"] = all(row.get("repeatable", True) for row in rows.values())
    return summary


def targets_of(summary, line):
    """Return the targets of the default method."""
    auc, kept, motion = summary["auc"], summary["worst_object_kept"], summary["error_px"]
    rates = [summary["sensitivity"], summary["specificity"]]
    return [
        Target(name="mean AUC", value=auc["mean"], least=0.988),
        Target(name="mean sensitivity", value=rates[0]["mean"], least=0.93),
        Target(name="mean specificity", value=rates[1]["mean"], least=0.93),
        Target(name="lowest sensitivity", value=rates[0]["min"], least=0.88),
        Target(name="lowest specificity", value=rates[1]["min"], least=0.88),
        Target(name="worst object kept", value=kept["min"], least=0.85),
        Target(name="mean motion error, px", value=motion["mean"], most=0.75),
        Target(name="share above 3 px", value=summary["share_above_3_px"]["mean"], most=0.06),
        Target(
            name="sensitivity, two opposite motions",
            value=line["methods"]["auto"]["sensitivity"],
            least=0.93,
        ),
        Target(name="two runs are bit-identical", value=float(summary["repeatable"]), least=1.0),
    ]


def _show_scene(name, row):
    """Print a line while the benchmark runs."""
    auto = row["methods"]["auto"]
    print(f"{name:34s} AUC {auto['auc']:.4f} motion {auto['error_px']:.2f} px", file=sys.stderr)


_COLUMNS = {
    "auc": "AUC", "sensitivity": "sens.", "specificity": "spec.", "worst_object_kept": "object",
    "error_px": "px", "share_above_3_px": "> 3 px", "layers": "layers", "ms": "ms",
}  # fmt: skip


def _show(table, summary, line):
    """Print the scenes for the default method, and the means of all methods."""
    rows = [
        [
            name,
            str(row["n_true_layers"]),
            f"{row['ceiling_auc']:.3f}",
            f"{row['ceiling_object_kept']:.3f}",
            f"{row['alone_error_px']:.2f}" if "alone_error_px" in row else "",
            *(_cell(key, row["methods"]["auto"]) for key in _COLUMNS),
            *(f"{row['methods'][other]['auc']:.3f}" for other in FILTERS),
        ]
        for name, row in (table | {"line of two motions": line}).items()
    ]
    head = ["scene", "true", "ceiling", "of object", "alone, px", *_COLUMNS.values(), *FILTERS]
    print_table("Scenes: the default method, and the AUC of filters with history", head, rows)
    means = [
        [method, *(_mean_and_worst(row, key) for key in _COLUMNS)]
        for method, row in summary.items()
    ]
    print_table("Mean over the scenes (worst scene)", ["method", *_COLUMNS.values()], means)


def _cell(key, row):
    return f"{row[key]:.3f}" if isinstance(row[key], float) and key != "ms" else f"{row[key]:.0f}"


def _mean_and_worst(row, key):
    if key not in row:
        return ""
    worst = "max" if key in ("error_px", "share_above_3_px", "ms", "layers") else "min"
    digits = 1 if key in ("ms", "layers") else 3
    return f"{row[key]['mean']:.{digits}f} ({row[key][worst]:.{digits}f})"
