"""Motion across the direction of a camera that slides along x, past things at several depths. Prints JSON.

Command: ``python -m benchmarks.quality.parallax [--data FOLDER] [--seeds 8]``. A table goes to stderr.

The image moves along x only, so vy = 0 is the truth; the speed depends on the depth. Compared: one
translation per window by several methods, and several motions by `auto`.

simulated   slanted edges and dots at three depths, 30 ms. Edges of the near things lean one way
            ("leaning"), or each its own way ("mixed"); or all things have one depth ("one depth").
slider      with ``--data``: windows of the recording `slider_depth` ("recorded"), and the same events
            with a motion along x only ("resampled"): in tiles of 30 px the best vx with vy = 0 is found,
            the times of the events of a tile are permuted, and x follows from vx and the new time.
"""

import argparse
import logging
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table, report

import evcrisp
from evcrisp.contrast import ContrastMap
from evcrisp.core.windows import Window, by_time

RESOLUTION, WINDOW_US, TILE_PX = (240, 180), 30_000, 30
DEPTHS_PX_S = (-60.0, -115.0, -190.0)
METHODS = {
    "cmax": ("cmax", "translation"),
    "auto": ("auto", "translation"),
    "entropy": ("entropy", "translation"),
    "eja": ("eja", "translation"),
    "several motions": ("auto", "auto"),
}


def simulated(kind, seed):
    """Return a window of slanted edges and dots that move along x."""
    rng = np.random.default_rng(seed)
    parts = []
    for depth, vx in enumerate(DEPTHS_PX_S):
        speed = DEPTHS_PX_S[1] if kind == "one depth" else vx
        for _ in range(6):
            slant = rng.uniform(0.1, 0.5) * (depth - 1)
            slant *= rng.choice((-1, 1)) if kind == "mixed" else 1
            top, height, n = rng.uniform(0, 140), rng.uniform(20, 40), 400
            y = top + height * rng.random(n)
            parts.append((rng.uniform(10, 230) + slant * (y - top), y, np.full(n, speed)))
        for _ in range(10):
            parts.append(
                (
                    np.full(25, rng.uniform(5, 235)),
                    np.full(25, rng.uniform(5, 175)),
                    np.full(25, speed),
                )
            )
    x, y, vx = (np.concatenate(column) for column in zip(*parts, strict=True))
    t = rng.integers(0, WINDOW_US, x.size)
    x = np.rint(x + vx * (t - WINDOW_US // 2) / 1e6 + rng.normal(0, 0.3, x.size)).astype(int)
    return window_of(x, np.rint(y).astype(int), t, rng.random(x.size) < 0.5, 0)


def window_of(x, y, t, p, t_start):
    """Return the events on the sensor as a window, in the order of time."""
    inside = (x >= 0) & (x < RESOLUTION[0]) & (y >= 0) & (y < RESOLUTION[1])
    order = np.flatnonzero(inside)[np.argsort(t[inside], kind="stable")]
    columns = {"x": x[order], "y": y[order], "t": t[order], "p": p[order]}
    return Window(evcrisp.Events(**columns, resolution=RESOLUTION), t_start, t_start + WINDOW_US)


def resampled(window, seed):
    """Return a window with the same things, that move along x only."""
    contrast = ContrastMap(footprint="spline", sigma_px=0.87, padding_px=12)
    events, rng = window.events, np.random.default_rng(seed)
    x, y, dt = events.x * 1.0, events.y * 1.0, (events.t - window.t_ref) / 1e6
    tile = events.y // TILE_PX * 100 + events.x // TILE_PX
    new_x, new_dt = np.full(x.size, -1.0), dt.copy()
    speeds = np.arange(-240.0, 0.0, 4.0)
    for number in np.unique(tile):
        mine = np.flatnonzero(tile == number)
        if mine.size < 60:
            continue
        middle = (number % 100 + 0.5) * TILE_PX, (number // 100 + 0.5) * TILE_PX
        near = (abs(x - middle[0]) < 0.75 * TILE_PX) & (abs(y - middle[1]) < 0.75 * TILE_PX)
        one = np.ones(np.count_nonzero(near))
        sharpness = [
            (contrast.build(x[near] - v * dt[near], y[near], one, RESOLUTION) ** 2).sum()
            for v in speeds
        ]
        v = speeds[int(np.argmax(sharpness))]
        new_dt[mine] = dt[rng.permutation(mine)]
        new_x[mine] = np.rint(x[mine] + v * (new_dt[mine] - dt[mine]))
    t = np.rint(new_dt * 1e6).astype(np.int64) + window.t_ref
    return window_of(new_x.astype(int), events.y.astype(int), t, events.p, window.t_start)


def cross_motion(windows):
    """Return the mean and the spread of vy by method, px/s, averaged over the signal events."""
    result = {}
    for name, (method, motion) in METHODS.items():
        found = [evcrisp.estimate(window, method, motion) for window in windows]
        velocity = np.array([r.velocity[r.signal].mean(axis=0) for r in found])
        result[name] = {
            "vx": float(velocity[:, 0].mean()),
            "vy": float(velocity[:, 1].mean()),
            "vy_deviation": float(velocity[:, 1].std()),
        }
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    cases = {
        f"simulated, {kind}": [simulated(kind, seed) for seed in range(options.seeds)]
        for kind in ("one depth", "mixed", "leaning")
    }
    if options.data:
        path = next((options.data / "ecd" / "slider_depth_chunk").glob("events*"))
        recorded = [w for w in by_time(evcrisp.read(path), WINDOW_US) if len(w.events) > 3000]
        cases["slider, recorded"] = recorded
        cases["slider, resampled"] = [resampled(window, 0) for window in recorded]
    results = {name: cross_motion(windows) for name, windows in cases.items()}
    rows = [
        [name, *(f"{cell['vy']:+.1f} ({cell['vy_deviation']:.1f})" for cell in row.values())]
        for name, row in results.items()
    ]
    print_table("vy, px/s: mean (deviation); truth 0", ["windows", *METHODS], rows)
    report("parallax", results, seeds=options.seeds)


if __name__ == "__main__":
    main()
