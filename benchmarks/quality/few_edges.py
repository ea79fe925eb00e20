"""Things with few edges, in windows that the events choose: are reliable motions right? Prints JSON.

Command: ``python -m benchmarks.quality.few_edges [--scenes 60] [-o FILE]``. A table goes to stderr.

A single thing moves before an even background on a sensor of 128 x 128 or 240 x 180 px: square, disk,
triangle, short bar, ring; a bar and an edge across the whole view, and stripes, whose motion along
themselves cannot be told. Motions are translations of 30 to 900 px/s, constant, swinging, or with stops.

reliable   share of the windows with a reliable motion, of those with 300 events of the thing or more
coverage   share of the components of reliable motions within their interval of 95 %
wrong      reliable windows off by 1 px over the window or more, and by more than 4 standard deviations
"""

import argparse
import logging
import time
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table, report, write_report
from benchmarks.quality.targets import Target, show_targets

import evcrisp

DURATION_US = 500_000
QUANTILE, GROSS_SIGMAS, GROSS_PX = 1.96, 4.0, 1.0
CLOSED, OPEN = ("square", "disk", "triangle", "bar", "ring"), ("edge", "long bar", "stripes")
PATHS = ("constant", "swinging", "stops")

#: Fewer events of the thing do not tell a motion.
LEAST_EVENTS = 300


def brightness(shape, side, rng):
    """Return an image of a thing, (side, side), with soft edges."""
    y, x = np.mgrid[0:side, 0:side] - 0.5 * (side - 1)
    angle, size = rng.uniform(0.0, np.pi), rng.uniform(8.0, 24.0)
    across, along = (
        x * np.cos(angle) + y * np.sin(angle),
        y * np.cos(angle) - x * np.sin(angle),
    )
    radius = np.hypot(x, y)
    distance = {
        "square": np.maximum(abs(across), abs(along)) - size,
        "disk": radius - size,
        "triangle": np.maximum(-along, 0.866 * abs(across) + 0.5 * along) - 0.6 * size,
        "bar": np.maximum(abs(across) - 3.0, abs(along) - 1.5 * size),
        "ring": abs(radius - size) - 3.0,
        "edge": across,
        "long bar": abs(across) - 3.0,
        "stripes": 0.5 * size * np.sin(across * 2.0 * np.pi / size) / np.pi,
    }[shape]
    inside = 0.5 - 0.5 * np.tanh(distance)
    low, high = 0.25, 1.0
    return (high - (high - low) * inside), np.array([np.cos(angle), np.sin(angle)])


def knots_of(path, velocity):
    """Return times, us, and velocities of a path."""
    t = np.arange(0, DURATION_US + 2_000, 1_000)
    factor = {
        "constant": np.ones(t.size),
        "swinging": np.cos(2.0e-6 * np.pi * 4.0 * t),
        "stops": (t // 125_000 % 2 == 0).astype(float),
    }[path]
    return t, factor[:, None] * velocity


def simulated(i, seed):
    """Return facts, scene, its path, and the direction across the edges of open shapes."""
    rng = np.random.default_rng((seed, i))
    shape = (*CLOSED, *OPEN)[i % 8]
    path = PATHS[i // 8 % 3]
    resolution = ((128, 128), (240, 180))[int(rng.integers(2))]
    speed, angle = float(np.exp(rng.uniform(np.log(30), np.log(900)))), rng.uniform(0, 2 * np.pi)
    if path == "constant" and shape in CLOSED:
        speed = min(speed, 0.6 * min(resolution) / (1e-6 * DURATION_US))
    velocity = speed * np.array([np.cos(angle), np.sin(angle)])
    noise_hz = float(rng.choice((0.1, 1.0, 5.0)))
    t, knots = knots_of(path, velocity)
    side = 5 * max(resolution)
    image, across = brightness(shape, side, rng)
    moved = np.cumsum(knots, axis=0) * 1e-3
    # Center the path on the view: things stay in sight.
    middle = 0.5 * (moved.max(axis=0) + moved.min(axis=0))
    image = np.roll(image, tuple((-np.round(middle)).astype(int)[::-1]), axis=(0, 1))
    scene = evcrisp.simulate(
        trajectory=tuple(map(tuple, np.column_stack((t, knots)).tolist())), image=image,
        duration_us=DURATION_US, resolution=resolution, noise_hz=noise_hz, seed=i,
    )  # fmt: skip
    return {"shape": shape, "path": path, "noise_hz": noise_hz}, scene, (t, knots), across


def measure(i, seed):
    """Return a row per window with enough events."""
    facts, scene, (t, knots), across = simulated(i, seed)
    signal, rows = np.asarray(scene.events.signal), []
    for result in evcrisp.track(scene.events):
        window = result.window
        n_true = int(signal[window.index : window.index + len(result)].sum())
        if n_true < LEAST_EVENTS:
            continue
        length_s = (window.t_end - window.t_start) / 1e6
        inside = (t >= window.t_start) & (t < window.t_end)
        truth = knots[inside].mean(axis=0) if inside.any() else knots[-1]
        velocity, std = motion_of(result)
        error = velocity - truth
        is_open = facts["shape"] in OPEN
        normal = abs(float(error @ across)) * length_s if is_open else float("nan")
        rows.append(
            facts
            | {
                "reliable": bool(result.reliable),
                "doubts": [doubt.code for doubt in result.doubts],
                "length_ms": 1e3 * length_s,
                "n_events": n_true,
                "speed_px": float(np.linalg.norm(truth)) * length_s,
                "error_px": float(np.linalg.norm(error)) * length_s,
                "normal_px": normal,
                "std_px": (std * length_s).tolist(),
                "sigmas": np.abs(error / np.maximum(std, 1e-9)).tolist(),
            }
        )
    return rows


def motion_of(result):
    """Return velocity and standard deviations of the largest layer."""
    if not result.layers:
        return np.full(2, np.nan), np.full(2, np.nan)
    layer = result.layers[0]
    return layer.velocity, layer.velocity_std


def summary(rows):
    """Return the figures of some windows."""
    good = [row for row in rows if row["reliable"]]
    sigmas = np.array([row["sigmas"] for row in good]).ravel()
    wrong = [
        row for row in good if row["error_px"] > GROSS_PX and not max(row["sigmas"]) < GROSS_SIGMAS
    ]
    return {
        "windows": len(rows),
        "reliable": len(good) / max(len(rows), 1),
        "coverage": float((sigmas < QUANTILE).mean()) if good else float("nan"),
        "error_px": float(np.median([row["error_px"] for row in good])) if good else float("nan"),
        "wrong": len(wrong),
    }


def main(arguments=None):
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenes", type=int, default=96)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    start = time.perf_counter()
    rows = [row for i in range(args.scenes) for row in measure(i, args.seed)]
    table = {}
    for key in ("shape", "path", "noise_hz"):
        for value in dict.fromkeys(row[key] for row in rows):
            table[f"{key} {value}"] = summary([row for row in rows if row[key] == value])
    closed = [row for row in rows if row["shape"] in CLOSED]
    open_ = [row for row in rows if row["shape"] in OPEN]
    table |= {"closed": summary(closed), "open": summary(open_)}
    print_table(
        "few edges",
        ("windows", *table["closed"]),
        [(name, *(f"{value:.3g}" for value in row.values())) for name, row in table.items()],
    )
    normal = [row["normal_px"] for row in open_ if row["doubts"] == ["aperture"]]
    targets = [
        Target(name="closed: reliable", value=table["closed"]["reliable"], least=0.8),
        Target(name="closed: coverage", value=table["closed"]["coverage"], least=0.9),
        Target(name="closed: wrong", value=float(table["closed"]["wrong"]), most=0.0),
        Target(name="open: wrong", value=float(table["open"]["wrong"]), most=0.0),
        Target(name="open: across, px", value=float(np.median(normal or [np.nan])), most=0.5),
    ]
    show_targets("few edges", targets)
    results = {
        "table": table,
        "targets": [target.as_dict() for target in targets],
        "windows": rows,
    }
    seconds = round(time.perf_counter() - start)
    settings = {"scenes": args.scenes, "seed": args.seed, "seconds": seconds}
    if args.output:
        write_report(args.output, "few_edges", results, **settings)
    else:
        report("few_edges", results, **settings)


if __name__ == "__main__":
    main()
