"""Part `cradle` of `benchmarks.quality.many_motions`: slow balls beside a fast one.

The recording is `demo-01` of E-MLB: a Newton's cradle of which one ball at a time is fast (about 1300
px/s) while four others swing together (up to 250 px/s). Windows of 30 ms, in a stream and alone. In
windows with a hit the fast ball joins the row: motions change within, and are not compared.

There is no truth. The reference are the events that a strict filter keeps (`stcf`: four of eight
neighbors of the same polarity within 5 ms), in the circles of the four balls. The circles have one
size and distance; where the row is in a window is the shift at which most of the reference lies on
their outlines. The velocity of the row is that of its shift over the windows before and after; a
hit moves the row by one ball, which is taken off.

kept    share of the reference of each ball that is kept
motion  median velocity of each ball's reference, its largest change from window to window, and the
        distance of its x component to the velocity of the row
"""

import sys
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table
from benchmarks.quality.label_measures import digest
from benchmarks.quality.targets import Target, show_targets

import evcrisp
from evcrisp.filters import denoise

RECORDING = Path("emlb", "demo-01.aedat4")
WINDOW_US = 30_000
STRICT = {"k": 4, "tau_us": 5_000}

#: Circles of the row, px: fitted to windows without the fast ball.
RADIUS_PX, DISTANCE_PX, ROW_Y = 20.0, 43.0, 158.0
_FIRST_X = np.arange(80.0, 125.0, 0.5)  # where the first ball may be
_OUTLINE_PX, _MARGIN_PX = 1.5, 2.0

#: Balls with fewer events of reference say nothing.
_LEAST_EVENTS = 100

METHODS = ("auto", "auto, tracked", "auto, one motion", "stcf")


def measure(data_dir, only=None, repeats=1):
    """Return shares and motions of all windows; print tables."""
    path = Path(data_dir, RECORDING)
    if not path.is_file():
        print(f"cradle: left out, no `{RECORDING}` in the data", file=sys.stderr)
        return {}
    events = evcrisp.read(path)
    reference = denoise(events, "stcf", **STRICT).signal
    windowing = evcrisp.Windowing(window_us=WINDOW_US)
    tracked = list(evcrisp.track(events, windowing=windowing))
    windows = [result.window for result in tracked]
    found = {
        "auto": [evcrisp.estimate(window) for window in windows],
        "auto, tracked": tracked,
        "auto, one motion": [evcrisp.estimate(w, motion="translation") for w in windows],
    }
    labels = {method: [one.signal for one in results] for method, results in found.items()}
    labels["stcf"] = _by_window(denoise(events, "stcf").signal, windows)
    balls = [
        balls_of(window.events, flags)
        for window, flags in zip(windows, _by_window(reference, windows), strict=True)
    ]
    kept = {method: kept_shares(flags, balls) for method, flags in labels.items()}
    row_speed, has_hit = row_velocity(np.array([first_x for first_x, _ in balls]))
    motion = {method: ball_motions(found[method], balls, row_speed, has_hit) for method in found}
    again = [digest(one) for one in evcrisp.track(events, windowing=windowing)]
    is_repeatable = again == [digest(one) for one in tracked]
    lowest = {method: _lowest(shares) for method, shares in kept.items()}
    targets = [
        Target(name="lowest share of a slow ball kept", value=lowest["auto"], least=0.9),
        Target(name="two runs are bit-identical", value=float(is_repeatable), least=1.0),
    ]
    layers = [len(one.layers) for one in found["auto"]]
    _show(kept, motion, row_speed, layers)
    show_targets("Targets of the cradle", targets)
    return {
        "row_px_s": row_speed.tolist(),
        "kept": {method: shares.tolist() for method, shares in kept.items()},
        "lowest_kept": lowest,
        "motion": motion,
        "layers": layers,
        "targets": [target.as_dict() for target in targets],
    }


def _by_window(flags, windows):
    return [flags[w.index : w.index + len(w.events)] for w in windows]


def balls_of(events, reference):
    """Return the x of the first ball, and the reference of each ball, shape (4, n)."""
    x, y = events.x.astype(float), events.y.astype(float)
    on_outline = [
        np.count_nonzero(
            (np.abs(_distances(x[reference], y[reference], first) - RADIUS_PX) < _OUTLINE_PX).any(0)
        )
        for first in _FIRST_X
    ]
    first = float(_FIRST_X[int(np.argmax(on_outline))])
    inside = _distances(x, y, first) < RADIUS_PX + _MARGIN_PX
    return first, inside & reference


def _distances(x, y, first_x):
    """Return the distance of events to the centers of the balls, shape (4, n), px."""
    centers = first_x + DISTANCE_PX * np.arange(4)
    return np.hypot(x - centers[:, None], y - ROW_Y)


def kept_shares(labels, balls):
    """Return the share of the reference that is kept, shape (windows, 4); NaN for few events."""
    return np.array(
        [
            [flags[ball].mean() if ball.sum() >= _LEAST_EVENTS else np.nan for ball in own]
            for flags, (_, own) in zip(labels, balls, strict=True)
        ]
    )


def row_velocity(first_x):
    """Return the velocity of the row in each window, px/s, and which windows have a hit, (n,).

    The velocity of the first and the last window is NaN.
    """
    steps = np.diff(first_x)
    balls = np.rint(steps / DISTANCE_PX)
    has_hit = np.append(False, balls != 0)
    place = np.append(0.0, np.cumsum(steps - balls * DISTANCE_PX))
    speed = np.full(first_x.size, np.nan)
    speed[1:-1] = (place[2:] - place[:-2]) / (2e-6 * WINDOW_US)
    return speed, has_hit


def ball_motions(results, balls, row_speed, has_hit):
    """Return the velocities of the balls, their jumps, and their distance to the row's."""
    velocity = np.full((len(results), 4, 2), np.nan)
    for k, (result, (_, own)) in enumerate(zip(results, balls, strict=True)):
        field = result.velocity
        for i, ball in enumerate(own):
            if ball.sum() >= _LEAST_EVENTS:
                velocity[k, i] = np.median(np.nan_to_num(field[ball]), axis=0)
    quiet = np.where(has_hit[:, None, None], np.nan, velocity)
    jumps = np.linalg.norm(np.diff(quiet, axis=0), axis=2)
    off = np.abs(quiet[..., 0] - row_speed[:, None])
    where = np.argwhere(jumps == np.nanmax(jumps))[0]
    return {
        "velocity_px_s": velocity.tolist(),
        "largest_jump_px_s": float(np.nanmax(jumps)),
        "largest_jump_to_window": int(where[0]) + 1,
        "largest_jump_ball": int(where[1]),
        "median_jump_px_s": float(np.nanmedian(jumps)),
        "median_off_row_px_s": float(np.nanmedian(off)),
        "share_off_row_100_px_s": float(np.mean(off[np.isfinite(off)] > 100.0)),
    }


def _lowest(shares):
    return float(np.nanmin(shares))


def _show(kept, motion, row_speed, layers):
    rows = []
    for k, speed in enumerate(row_speed):
        velocity = np.array(motion["auto"]["velocity_px_s"][k])
        cells = [" ".join(f"{share:.2f}" for share in shares[k]) for shares in kept.values()]
        moved = " ".join(f"{vx:.0f},{vy:.0f}" for vx, vy in velocity)
        rows.append([str(k), f"{speed:.0f}", moved, *cells, str(layers[k])])
    head = ["window", "row, px/s", "balls by auto, px/s", *kept, "layers"]
    print_table("Cradle: share of the slow balls' reference that is kept", head, rows)
    keys = [key for key in next(iter(motion.values())) if key != "velocity_px_s"]
    lines = [[method, *(f"{row[key]:.3g}" for key in keys)] for method, row in motion.items()]
    print_table("Cradle: motion of the balls", ["", *keys], lines)
