"""Labels where the default noise model or the motion could fail. Prints JSON.

Command: ``python -m benchmarks.quality.labels_everywhere [PARTS] [--seeds 3] [--data DIR] [-o FILE]``.

noise     kinds of noise alone, at three rates: share that is kept
regions   uniform noise in a part of the declared sensor; N-CARS with uniform noise in its crop
motion    signal whose motion is hard or impossible to tell: one edge, bars, stripes, checkers
padding   labels of a sensor with 40 empty pixels on each side, against those without

Compared: `auto` (the default), `translation` (one motion given), and the filters `stcf` and `ebf`, which
have seen 60 ms of the same scene before the window.
"""

import argparse
import logging
import os
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table, write_report
from benchmarks.quality import label_scenes as scenes
from benchmarks.quality.label_measures import label_measures
from benchmarks.quality.targets import Target, show_targets

import evcrisp
from evcrisp.core.events import Events
from evcrisp.core.windows import Window
from evcrisp.filters import denoise

RATES_HZ = (2.0, 5.0, 20.0)
REGIONS, REGION_RATES_HZ = (0.7, 0.4, 0.15), (5.0, 20.0)
MOTIONS = {"auto": "auto", "translation": "translation"}
FILTERS = ("stcf", "ebf")
NCARS = Path("prophesee", "ncars_obj_004397_td.dat")


def kept_shares(window):
    """Return the kept share of a window by each motion."""
    return {
        name: float(evcrisp.estimate(window, motion=motion).signal.mean())
        for name, motion in MOTIONS.items()
    }


def measure_noise(seeds, data_dir):
    """Return the kept share of noise alone: kind, rate, method."""
    del data_dir
    table = {}
    for kind in scenes.NOISE:
        for rate in RATES_HZ:
            rows = [kept_shares(scenes.noise_alone(kind, rate, s).window) for s in range(seeds)]
            table[f"{kind}, {rate:g} Hz/px"] = _over_seeds(rows)
    _show_kept("Noise alone: kept share, mean (largest)", table)
    targets = [
        Target(
            name=f"{name}, {method}",
            value=row[method]["max"],
            most=0.15 if "clusters" in name else 0.1,
        )
        for name, row in table.items()
        for method in MOTIONS
    ]
    return {"kept": table}, targets


def measure_regions(seeds, data_dir):
    """Return the kept share of uniform noise in parts of the sensor, and in N-CARS."""
    table = {}
    for share in REGIONS:
        for rate in REGION_RATES_HZ:
            rows = [kept_shares(scenes.region(share, rate, s).window) for s in range(seeds)]
            table[f"{share:.0%} of the sensor, {rate:g} Hz/px"] = _over_seeds(rows)
    if data_dir and (data_dir / NCARS).is_file():
        table |= _ncars(data_dir / NCARS, seeds)
    else:
        print("N-CARS: left out, no such file in the data", file=sys.stderr)
    _show_kept("Parts of the sensor: kept share of noise, mean (largest)", table)
    targets = [
        Target(name=f"{name}, {method}", value=row[method]["max"], most=0.1)
        for name, row in table.items()
        for method in MOTIONS
    ]
    return {"kept": table}, targets


def _ncars(path, seeds):
    """Return the kept share of noise that is added to N-CARS within the extent of its events."""
    table, events = {}, evcrisp.read(path)
    for rate in REGION_RATES_HZ:
        rows = [_of_crop(events, rate, seed) for seed in range(seeds)]
        table[f"N-CARS + {rate:g} Hz/px"] = _over_seeds(rows)
    return table


def _of_crop(events, rate_hz, seed):
    rng = np.random.default_rng(seed)
    left, right, top, bottom = (
        int(end) for v in (events.x, events.y) for end in (v.min(), v.max() + 1)
    )
    t_first, t_last = int(events.t[0]), int(events.t[-1]) + 1
    area = (right - left) * (bottom - top)
    n = rng.poisson(rate_hz * 1e-6 * (t_last - t_first) * area)
    noise = (
        rng.integers(left, right, n),
        rng.integers(top, bottom, n),
        rng.integers(t_first, t_last, n),
        rng.integers(0, 2, n),
    )
    columns = [np.concatenate(pair) for pair in zip(_columns(events), noise, strict=True)]
    order = np.argsort(columns[2], kind="stable")
    is_noise = order >= len(events)
    x, y, t, p = (column[order] for column in columns)
    both = Events(x=x, y=y, t=t, p=p.astype(bool), resolution=events.resolution)
    kept = {name: [] for name in MOTIONS}
    for start in range(t_first, t_last - scenes.WINDOW_US, scenes.WINDOW_US):
        inside = (t >= start) & (t < start + scenes.WINDOW_US)
        window = Window(both[inside], start, start + scenes.WINDOW_US)
        for name, motion in MOTIONS.items():
            signal = evcrisp.estimate(window, motion=motion).signal
            kept[name].append(signal[is_noise[inside]])
    return {name: float(np.concatenate(parts).mean()) for name, parts in kept.items()}


def _columns(events):
    return events.x, events.y, events.t, events.p


def motion_scenes(seed):
    """Yield names and scenes whose motion is hard to tell."""
    rng = np.random.default_rng(seed)
    for noise_hz in (2.0, 10.0):
        for speed in (60.0, 300.0, 1200.0):
            angle = float(rng.uniform(0.0, 2.0 * np.pi))
            for name, n_edges in (("edge", 1), ("bar", 2), ("bars", 6)):
                columns = scenes.edge(speed, angle, rng, n_edges)
                scene = scenes.with_noise(columns, "uniform", noise_hz, rng)
                yield f"{name}, {speed:g} px/s, {noise_hz:g} Hz/px", scene
        for name in ("stripes", "checkerboard"):
            for period in (5.0, 8.0, 12.0, 20.0):
                for passes in (0.5, 1.0, 2.5):
                    angle = float(rng.uniform(0.0, 2.0 * np.pi))
                    speed = passes * period / (1e-6 * scenes.WINDOW_US)
                    theta = (speed * np.cos(angle), speed * np.sin(angle))
                    if period >= 8.0:
                        scene = scenes.texture(name, period, theta, noise_hz, 10 * seed + 1)
                    elif name == "stripes":
                        columns = scenes.edge(speed, angle, rng, 200, 0.5 * period)
                        scene = scenes.with_noise(columns, "uniform", noise_hz, rng)
                    else:  # finer than the simulator allows
                        columns = scenes.checkers(theta, period, rng)
                        scene = scenes.with_noise(columns, "uniform", noise_hz, rng)
                    yield f"{name} of {period:g} px, {passes:g} periods, {noise_hz:g} Hz/px", scene


def measure_motion(seeds, data_dir):
    """Return labels of scenes whose motion is hard to tell, with those of filters."""
    del data_dir
    parts = {}
    for seed in range(seeds):
        for name, scene in motion_scenes(seed):
            parts.setdefault(name, []).append(_labels(scene))
    table = {name: _means(rows) for name, rows in parts.items()}
    head = ["scene", *(f"{method}" for method in (*MOTIONS, *FILTERS))]
    print_table(
        "AUC, sensitivity, specificity (mean over seeds)",
        head,
        [[name, *(_triple(row[method]) for method in head[1:])] for name, row in table.items()],
    )
    return {"scenes": table}, list(_motion_targets(table))


def _motion_targets(table):
    for name, row in table.items():
        filters = [row[method] for method in FILTERS]
        reached = any(one["sensitivity"] >= 0.9 and one["specificity"] >= 0.5 for one in filters)
        for method in MOTIONS:
            own = row[method]
            if reached:
                value = min(own["sensitivity"] - 0.9, own["specificity"] - 0.5)
                yield Target(name=f"margin, {name}, {method}", value=value, least=0.0)
            for key in ("auc", "balanced_accuracy"):
                lead = own[key] - max(one[key] for one in filters)
                yield Target(name=f"lead in {key}, {name}, {method}", value=lead, least=-0.005)


def _labels(scene):
    truth = scene.signal[scene.in_window]
    row = {}
    for name, motion in MOTIONS.items():
        result = evcrisp.estimate(scene.window, motion=motion)
        row[name] = label_measures(result.score, result.signal, truth)
    for name in FILTERS:
        found = denoise(scene.events, name)
        score, signal = found.score[scene.in_window], found.signal[scene.in_window]
        row[name] = label_measures(score, signal, truth)
    return row


def measure_padding(seeds, data_dir):
    """Return the share of labels that 40 empty pixels on each side change."""
    del data_dir
    table = {}
    for name, settings in {
        "translation": {"theta": (300.0, -120.0), "texture": "shapes"},
        "rocks": {"theta": (-150.0, 220.0), "texture": "rocks"},
        "dots, slow": {"theta": (60.0, 30.0), "texture": "dots"},
    }.items():
        for seed in range(seeds):
            events = evcrisp.simulate(
                duration_us=scenes.WINDOW_US, noise_hz=5.0, seed=seed, **settings
            ).events
            table[f"{name}, seed {seed}"] = {m: _changed(events, m) for m in MOTIONS.values()}
    for method in MOTIONS.values():
        print(f"padding, {method}:", [round(r[method], 4) for r in table.values()], file=sys.stderr)
    targets = [
        Target(name=f"labels changed by padding, {name}", value=row["translation"], most=0.002)
        for name, row in table.items()
    ]
    return {"changed": table}, targets


def _changed(events, motion, pad=40):
    width, height = events.resolution
    padded = Events(
        x=events.x + pad, y=events.y + pad, t=events.t, p=events.p,
        resolution=(width + 2 * pad, height + 2 * pad),
    )  # fmt: skip
    first, second = (evcrisp.estimate(e, motion=motion).signal for e in (events, padded))
    return float((first != second).mean())


def _over_seeds(rows):
    return {
        key: {
            "mean": float(np.mean([row[key] for row in rows])),
            "max": max(row[key] for row in rows),
        }
        for key in rows[0]
    }


def _means(rows):
    return {
        method: {key: float(np.mean([row[method][key] for row in rows])) for key in first}
        for method, first in rows[0].items()
    }


def _triple(row):
    return f"{row['auc']:.3f} {row['sensitivity']:.2f} {row['specificity']:.2f}"


def _show_kept(title, table):
    rows = [
        [name, *(f"{row[m]['mean']:.3f} ({row[m]['max']:.3f})" for m in MOTIONS)]
        for name, row in table.items()
    ]
    print_table(title, ["", *MOTIONS], rows)


PARTS = {
    "noise": measure_noise,
    "regions": measure_regions,
    "motion": measure_motion,
    "padding": measure_padding,
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=[], help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("-o", "--output", type=Path, help="JSON file")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown parts: {', '.join(unknown)}; known: {', '.join(PARTS)}")
    logging.disable(logging.WARNING)
    data_dir = options.data or Path(os.environ.get("EVCRISP_DATA", "data"))
    results, start = {}, time.perf_counter()
    for part in options.parts or PARTS:
        found, targets = PARTS[part](options.seeds, data_dir)
        show_targets(f"Targets of {part}", targets)
        results[part] = found | {"targets": [target.as_dict() for target in targets]}
        if options.output:
            seconds = round(time.perf_counter() - start)
            write_report(options.output, "labels everywhere", results, seconds=seconds)
    return results


if __name__ == "__main__":
    main()
