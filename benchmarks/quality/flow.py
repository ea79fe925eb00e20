"""Flow of real and synthesized recordings against fields that are known. Tables; JSON to a file.

Command: ``python -m benchmarks.quality.flow [PARTS] [--data DIR] [-o FILE]``. Parts whose recordings are
not in DIR (default: ``EVCRISP_DATA``) are left out. Methods do not know the calibration.

rotations  six windows of a rotating camera (Event Camera Dataset), against the field of the rotation
           that `auto` fits with the calibration, and against that of plain fits of others; see
           `benchmarks.quality.rotation`
bar        RotatingBar of DVSFLOW16 (Rueckauer and Delbruck 2016), a synthesized bar that turns about
           its end by 12 deg/s, against the published field, 45 to 75 s. Every velocity is at right
           angles to the bar, so that normal flow is the whole flow; its error is that of the component
           along the true direction.
disk       IMU_rotDisk of DVSFLOW16, a camera that rolls before a star, against the roll rate of the
           gyroscope in the file. The optical axis is not known: the field turns about the median of the
           points at rest of rotations that are fitted to all windows, 14 px beside the middle. Figures
           about the middle of the image are given as well. Along the spokes no motion can be seen.

Compared: the default; one translation; one similarity (not for rotations). An error is that of an
event's velocity, of all events that the reference (rotations) or the method (others) calls signal.
AEE is px over the window; relative errors are means of errors over means of true speeds.

Floor: 0, the true field. A field of zeros has a relative error of 1.
"""

import argparse
import logging
import os
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table, write_report
from benchmarks.quality.label_measures import digest
from benchmarks.quality.rotation import DISK, Disk
from benchmarks.quality.scenes import ECD_ROTATIONS, real
from benchmarks.quality.targets import Target, show_targets

import evcrisp
from evcrisp.metrics import flow_errors
from evcrisp.motion.velocity import velocity_of

BAR, BAR_TRUTH = Path("dvsflow16", "RotatingBar.aedat"), Path("dvsflow16", "gtRotatingBar.mat")

#: Windows of the bar, which moves by at most 10 px/s, and of the disk; the first one is the target's.
BAR_WINDOWS_US = (1_000_000, 2_000_000)
DISK_WINDOWS_US = (100_000, 50_000)

#: Motion of each method.
METHODS = {"auto": "auto", "one translation": "translation", "one similarity": "similarity"}


def rotations(data_dir):
    """Return the errors in windows of a rotating camera; print a table."""
    if not Path(data_dir, "ecd").is_dir():
        return _left_out("rotations", "no folder `ecd` in the data")
    table = {name: rotation_window(data_dir, name) for name in ECD_ROTATIONS}
    means = {
        method: {
            key: float(np.mean([row[method]["fit"][key] for row in table.values()]))
            for key in ("aee_px", "direction_deg")
        }
        for method in ("auto", "one translation")
    }
    rows = [
        [
            name,
            f"{row['displacement_px']:.1f}",
            *(_pair(row["auto"][reference]) for reference in ("fit", "plain fit", "pixels")),
            _pair(row["one translation"]["fit"]),
            str(row["auto"]["layers"]),
            row["auto"]["motion"],
        ]
        for name, row in table.items()
    ]
    head = [
        "window", "moved, px", "auto", "to plain fit", "pixels", "one translation", "layers", "motion",
    ]  # fmt: skip
    print_table("Rotating camera: AEE in px, direction in degrees", head, rows)
    targets = [
        Target(name="rotations: AEE, px", value=means["auto"]["aee_px"], most=0.45),
        Target(name="rotations: direction, deg", value=means["auto"]["direction_deg"], most=3.0),
        _repeatable("rotations", [row["auto"] for row in table.values()]),
    ]
    return {"windows": table, "mean": means, "targets": targets}


def rotation_window(data_dir, name):
    """Return the errors of the methods in one window."""
    case = real(Path(data_dir), name, share=0.0)
    fitted = evcrisp.estimate(case.window, motion=case.model)
    duration_s = (case.window.t_end - case.window.t_start) / 1e6
    events, dt = case.window.events, (case.window.events.t - case.window.t_ref) / 1e6
    fields = {
        "fit": velocity_of(case.model, fitted.theta, events.x, events.y, dt),
        "plain fit": velocity_of(case.model, case.theta, events.x, events.y, dt),
    }
    moved = duration_s * np.hypot(*fields["fit"][fitted.signal].T)
    row = {"displacement_px": float(np.median(moved)), "duration_s": duration_s}
    for method in ("auto", "one translation"):
        result = evcrisp.estimate(case.window, motion=METHODS[method])
        row[method] = {
            name: _errors(result.velocity, field, fitted.signal, duration_s)
            for name, field in fields.items()
        }
        flow = result.flow()
        row[method]["pixels"] = _errors(
            flow.velocity, fitted.flow(everywhere=True).velocity, flow.valid, duration_s
        )
        again = evcrisp.estimate(case.window, motion=METHODS[method])
        row[method] |= {
            "layers": len(result.layers),
            "motion": result.motion.name,
            "repeatable": digest(again) == digest(result),
        }
    return row


def bar(data_dir):
    """Return the errors of the turning bar; print a table."""
    if not (Path(data_dir, BAR).is_file() and Path(data_dir, BAR_TRUTH).is_file()):
        return _left_out("bar", f"no `{BAR}` with its truth in the data")
    field, t_first, t_last = bar_truth(Path(data_dir, BAR_TRUTH))
    events = evcrisp.read(Path(data_dir, BAR)).between(t_first, t_last)

    def truth_of(window):
        return field[window.events.y, window.events.x]

    table = _streams(events, BAR_WINDOWS_US, truth_of)
    _show_streams("Turning bar", table)
    first = table[BAR_WINDOWS_US[0]]["auto"]
    targets = [
        Target(name="bar: relative error", value=first["relative"], most=0.05),
        Target(
            name="bar: relative error of normal flow", value=first["relative_normal"], most=0.05
        ),
        _repeatable("bar", [first]),
    ]
    return {"by_window_us": table, "targets": targets}


def bar_truth(path):
    """Return the field of the bar, (h, w, 2) px/s, NaN where there is none, and its times, us."""
    from scipy.io import loadmat

    stored = loadmat(path)
    # The file counts rows from the bottom, as jAER does: y and its velocity change their sign.
    field = np.stack((stored["vxGT"], -stored["vyGT"]), axis=2)[::-1].astype(float)
    field[(field == 0).all(axis=2)] = np.nan
    t_first, t_last = (int(t) for t in stored["ts"].ravel())
    return field, t_first, t_last


def disk(data_dir):
    """Return the errors before a star, by the gyroscope; print tables."""
    if not Path(data_dir, DISK).is_file():
        return _left_out("disk", f"no `{DISK}` in the data")
    recording = Disk.of(data_dir)
    width, height = recording.events.resolution
    centers = {
        "axis": point_at_rest(recording.events),
        "middle": (0.5 * (width - 1), 0.5 * (height - 1)),
    }
    tables = {}
    for name, (x, y) in centers.items():

        def truth_of(window, x=x, y=y):
            events, rate = window.events, recording.roll_rate(window)
            # The image turns against the camera.
            return -rate * np.column_stack((y - events.y.astype(float), events.x - x))

        tables[name] = _streams(recording.events, DISK_WINDOWS_US, truth_of)
        _show_streams(f"Rolling camera, about its {name}", tables[name])
    first = tables["axis"][DISK_WINDOWS_US[0]]["auto"]
    targets = [
        Target(name="disk: relative error", value=first["relative"], most=0.08),
        Target(name="disk: direction, deg", value=first["direction_deg"], most=5.0),
        Target(
            name="disk: relative error of normal flow", value=first["relative_normal"], most=0.08
        ),
        _repeatable("disk", [first]),
    ]
    return {"centers_px": centers, "by_center_and_window_us": tables, "targets": targets}


def point_at_rest(events):
    """Return the point about which the image turns, px: the median over all windows."""
    points = []
    windowing = evcrisp.Windowing(window_us=DISK_WINDOWS_US[0])
    for result in evcrisp.track(events, motion="rotation", windowing=windowing):
        corner, right, down = velocity_of(
            result.motion, result.theta, [100.0, 101.0, 100.0], [80.0, 80.0, 81.0], np.zeros(3)
        )
        slope = np.column_stack((right - corner, down - corner))
        points.append((100.0, 80.0) - np.linalg.solve(slope, corner))
    x, y = np.median(points, axis=0)
    return float(x), float(y)


def _streams(events, windows_us, truth_of):
    """Return the errors of all methods in streams of windows."""
    return {
        window_us: {
            method: stream_errors(events, motion, window_us, truth_of)
            for method, motion in METHODS.items()
        }
        for window_us in windows_us
    }


def stream_errors(events, motion, window_us, truth_of):
    """Return the errors over all complete windows of a stream."""
    windowing = evcrisp.Windowing(window_us=window_us)
    results = [
        result
        for result in evcrisp.track(events, motion=motion, windowing=windowing)
        if result.window.t_end - result.window.t_start == window_us
    ]
    again = evcrisp.track(events, motion=motion, windowing=windowing)
    # Only complete windows are compared: the stream ends with a rest.
    same = all(digest(one) == digest(two) for one, two in zip(results, again, strict=False))
    found, truth = [], []
    for result in results:
        true_velocity = truth_of(result.window)
        chosen = result.signal & np.isfinite(true_velocity).all(axis=1)
        found.append(result.velocity[chosen])
        truth.append(true_velocity[chosen])
    errors = _errors(np.concatenate(found), np.concatenate(truth), None, 1e-6 * window_us)
    by_window = [_relative(one, two) for one, two in zip(found, truth, strict=True) if len(one)]
    return errors | {
        "windows": len(results),
        "worst_window_relative": max(by_window),
        "median_window_relative": float(np.median(by_window)),
        "layers": float(np.mean([len(result.layers) for result in results])),
        "repeatable": same,
    }


def _errors(found, truth, chosen, duration_s):
    """Return the errors of velocities, as displacements over the window."""
    chosen = np.ones(found.shape[:-1], bool) if chosen is None else chosen
    chosen = chosen & np.isfinite(truth).all(axis=-1)
    found = np.nan_to_num(found)  # an estimate without a velocity counts as no motion
    errors = flow_errors(found, truth, chosen, duration_s)
    return {
        "aee_px": errors.aee,
        "direction_deg": errors.direction_deg,
        "share_above_3_px": errors.share_above_px[3.0],
        "relative": _relative(found[chosen], truth[chosen]),
        "relative_normal": _relative_normal(found[chosen], truth[chosen]),
        "n": errors.n,
    }


def _relative(found, truth):
    """Return the mean error over the mean speed."""
    found = np.nan_to_num(found)
    return float(np.hypot(*(found - truth).T).mean() / np.hypot(*truth.T).mean())


def _relative_normal(found, truth):
    """Return the mean error of the component along the true velocity, over the mean speed."""
    speed = np.hypot(*truth.T)
    along = (found * truth).sum(axis=1) / np.maximum(speed, 1e-12)
    return float(np.abs(along - speed).mean() / speed.mean())


def _repeatable(part, rows):
    same = all(row["repeatable"] for row in rows)
    return Target(name=f"{part}: two runs are bit-identical", value=float(same), least=1.0)


def _left_out(part, reason):
    print(f"{part}: left out, {reason}", file=sys.stderr)
    return {}


def _pair(row):
    return f"{row['aee_px']:.3f} {row['direction_deg']:.2f}"


def _show_streams(title, table):
    keys = (
        "aee_px", "relative", "relative_normal", "direction_deg", "median_window_relative",
        "worst_window_relative", "layers",
    )  # fmt: skip
    rows = [
        [f"{window_us / 1000:g} ms", method, str(row["windows"]), *(f"{row[k]:.3f}" for k in keys)]
        for window_us, methods in table.items()
        for method, row in methods.items()
    ]
    print_table(title, ["windows of", "method", "windows", *keys], rows)


PARTS = {"rotations": rotations, "bar": bar, "disk": disk}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=[], help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("-o", "--output", type=Path, help="JSON file")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown parts: {', '.join(unknown)}; known: {', '.join(PARTS)}")
    logging.disable(logging.WARNING)  # recordings without resolution or calibration
    data_dir = options.data or Path(os.environ.get("EVCRISP_DATA", "data"))
    start = time.perf_counter()
    results = {part: PARTS[part](data_dir) for part in options.parts or PARTS}
    targets = [target for result in results.values() for target in result.pop("targets", [])]
    show_targets("Targets of the flow", targets)
    results["targets"] = [target.as_dict() for target in targets]
    if options.output:
        seconds = round(time.perf_counter() - start)
        write_report(options.output, "flow", results, seconds=seconds)
    return results


if __name__ == "__main__":
    main()
