"""Windows that the events choose, against windows of 30 ms.

Command: ``python -m benchmarks.quality.windows [PARTS] [--data DIR] [-o FILE]``. Tables go to the
terminal, all figures to FILE (JSON).

shaken    a camera that is shaken (6 Hz, 15 to 60 px) or rolls (8 rad/s): sensitivity, specificity
real      real recordings: lengths, share of windows with a warning, time per event
truth     motions of real recordings whose truth is known
overlap   share of equal labels among the events that two windows share

Parts whose recordings are not in DIR (default: ``EVCRISP_DATA``) are left out.
"""

import argparse
import logging
import os
import time
from collections import Counter
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table, write_report
from benchmarks.quality.rotation import DISK, Disk

import evcrisp
from evcrisp.core.errors import EvError
from evcrisp.simulation import ObjectConfig

#: Rows of the tables.
WINDOWINGS = {"30 ms": evcrisp.Windowing(window_us=30_000), "auto": evcrisp.Windowing()}

#: Texture, noise and seed of the shaken scenes.
SCENES = (
    ("shapes", 2.0, 1), ("shapes", 20.0, 2), ("dots", 5.0, 3), ("dots", 20.0, 4), ("star", 5.0, 5),
    ("shapes", 10.0, 6), ("rocks", 2.0, 7), ("rocks", 10.0, 8),
)  # fmt: skip

SHAKE_HZ, AMPLITUDES_PX, ROLL_RAD_S = 6.0, (15.0, 30.0, 60.0), 8.0

RECORDINGS = (
    "aedat2/*.aedat", "aedat4/*.aedat4", "dvs128-mat/*.mat", "dvsflow16/*.aedat", "ecd/*",
    "emlb/*.aedat4", "eventstream/*.es", "nmnist/*.bin", "prophesee/*.raw", "prophesee/*.dat",
    "ros/*",
)  # fmt: skip

#: Recordings of which overlapping windows are compared.
OVERLAPPING = (
    "davis240c_IMU_rotDisk", "building", "stripes", "shapes_rotation_first", "slider_depth",
    "demo-01", "dvs.es", "davis346_test_events_2", "dvs128_hand",
)  # fmt: skip


def shaken(texture, noise_hz, seed, amplitude_px, duration_us=400_000):
    """Return a scene before a camera that swings along a line."""
    rng = np.random.default_rng(seed)
    angle, phase = rng.uniform(0, 2 * np.pi, 2)
    t = np.arange(0, duration_us + 2_000, 1_000)
    speed = 2 * np.pi * SHAKE_HZ * amplitude_px * np.cos(2e-6 * np.pi * SHAKE_HZ * t + phase)
    knots = np.column_stack((t, speed * np.cos(angle), speed * np.sin(angle)))
    return evcrisp.simulate(
        trajectory=tuple(map(tuple, knots.tolist())), duration_us=duration_us, texture=texture,
        noise_hz=noise_hz, seed=seed,
    ).events  # fmt: skip


def rolling(texture, noise_hz, seed, duration_us=200_000):
    """Return a scene before a camera that rolls about its optical axis."""
    return evcrisp.simulate(
        motion="similarity", theta=(0.0, 0.0, ROLL_RAD_S, 0.0), duration_us=duration_us,
        texture=texture, noise_hz=noise_hz, seed=seed,
    ).events  # fmt: skip


def measure_run(events, windowing):
    """Return labels, lengths, warnings and time of a recording."""
    start = time.perf_counter()
    results = list(evcrisp.track(events, windowing=windowing))
    seconds = time.perf_counter() - start
    lengths = [(r.window.t_end - r.window.t_start) / 1e3 for r in results]
    row = {
        "windows": len(results),
        "length_ms": float(np.median(lengths)),
        "longest_ms": float(max(lengths)),
        "warned": float(np.mean([bool(r.warnings) for r in results])),
        "reliable_time": _share_reliable(results, lengths),
        "reliable_events": _share_reliable(results, [len(r) for r in results]),
        "warnings": dict(Counter(text[:40] for r in results for text in r.warnings)),
        "ns_per_event": 1e9 * seconds / max(len(events), 1),
    }
    if events.signal is not None:
        signal = np.concatenate([r.signal for r in results])
        row["sensitivity"] = float(signal[events.signal].mean())
        row["specificity"] = float((~signal[~events.signal]).mean())
    return row


def _share_reliable(results, weights):
    """Return the share of the weight of windows that are reliable."""
    reliable = np.array([bool(r.reliable) for r in results])
    return float(np.average(reliable, weights=weights)) if sum(weights) else 0.0


def measure_shaken(data_dir):
    """Return labels of shaken and rolling cameras."""
    rows = []
    for texture, noise_hz, seed in SCENES:
        cases = {f"shake {a:g} px": shaken(texture, noise_hz, seed, a) for a in AMPLITUDES_PX}
        for case, events in {**cases, "roll": rolling(texture, noise_hz, seed)}.items():
            for name, windowing in WINDOWINGS.items():
                row = measure_run(events, windowing)
                rows.append(
                    {"scene": f"{case}, {texture}, {noise_hz:g} Hz/px", "windows by": name} | row
                )
    keys = ("windows", "length_ms", "sensitivity", "specificity", "warned")
    _show("Shaken and rolling cameras", rows, ("scene", "windows by", *keys))
    return rows


def measure_real(data_dir):
    """Return lengths, warnings and times of real recordings."""
    rows = []
    for path, events in _recordings(data_dir):
        for name, windowing in WINDOWINGS.items():
            measure_run(events[:20_000], windowing)  # compile
            row = measure_run(events, windowing)
            rows.append({"recording": path.stem, "windows by": name} | row)
    keys = ("windows", "length_ms", "warned", "reliable_time", "reliable_events", "ns_per_event")
    _show("Real recordings", rows, ("recording", "windows by", *keys))
    totals = {}
    for name in WINDOWINGS:
        part = [row for row in rows if row["windows by"] == name]
        n = sum(row["windows"] for row in part)
        totals[name] = {
            "windows": n,
            "warned": sum(row["windows"] * row["warned"] for row in part) / max(n, 1),
            "mean_warned": float(np.mean([row["warned"] for row in part])) if part else 0.0,
        }
    _show("All of them", [{"windows by": k} | v for k, v in totals.items()],
          ("windows by", "windows", "warned", "mean_warned"))  # fmt: skip
    return {"recordings": rows, "totals": totals}


def measure_truth(data_dir):
    """Return the motion of recordings with truth, each with the windows that its events choose."""
    rows = []
    for name, windowing in WINDOWINGS.items():
        if Path(data_dir, DISK).is_file():
            disk = Disk.of(Path(data_dir))
            found = list(evcrisp.track(disk.events, motion="rotation", windowing=windowing))
            rates = np.degrees([[r.theta[2], disk.roll_rate(r.window)] for r in found])
            error = float(np.sqrt(np.mean((rates[:, 0] - rates[:, 1]) ** 2)))
            rows.append(_truth("rotDisk, roll, rms error [deg/s]", name, found, error))
        bar = Path(data_dir, "dvsflow16", "TranslatingBarX.aedat")
        if bar.is_file():
            found = list(evcrisp.track(evcrisp.read(bar), windowing=windowing))
            speeds = [np.median(np.hypot(*r.velocity[r.signal].T)) for r in _usable(found)]
            value = float(np.median(speeds)) if speeds else float("nan")
            rows.append(_truth("TranslatingBarX, speed, 10 px/s", name, found, value))
        slider = Path(data_dir, "ecd", "slider_depth_chunk")
        if slider.is_dir():
            found = list(
                evcrisp.track(evcrisp.read(slider), motion="translation", windowing=windowing)
            )
            angle = [np.degrees(np.arctan2(r.theta[1], r.theta[0])) for r in _usable(found)]
            off = [abs((a + 90) % 180 - 90) for a in angle]
            rows.append(_truth("slider_depth, angle to x [deg]", name, found, np.median(off)))
    _show("Known motions", rows, ("case", "windows by", "windows", "value"))
    return rows


def measure_overlap(data_dir):
    """Return the share of equal labels of windows of which half overlaps."""
    thing = ObjectConfig(theta=(-300, 90), size=(0.3, 0.4))
    common = {"duration_us": 200_000}
    cases = {
        "translation, 5 Hz/px": evcrisp.simulate(
            theta=(300, -120), noise_hz=5.0, seed=1, **common
        ).events,
        "rocks, 10 Hz/px": evcrisp.simulate(
            theta=(300, -120), texture="rocks", noise_hz=10.0, seed=1, **common
        ).events,
        "object, 5 Hz/px": evcrisp.simulate(
            theta=(90, 40), objects=(thing,), noise_hz=5.0, seed=3, **common
        ).events,
        "shake 30 px": shaken("shapes", 5.0, 1, 30.0),
        "roll": rolling("shapes", 5.0, 1),
    }
    for path, events in _recordings(data_dir):
        if any(name in path.name for name in OVERLAPPING):
            cases[path.stem] = events
    rows = [
        {
            "recording": name,
            "equal, 30 ms": equal_labels(events, evcrisp.Windowing(window_us=30_000, overlap=0.5)),
            "equal, auto": equal_labels(events, evcrisp.Windowing(overlap=0.5)),
        }
        for name, events in cases.items()
    ]
    _show("Overlapping windows", rows, tuple(rows[0]))
    return rows


def equal_labels(events, windowing):
    """Return the share of equal labels among events that a window shares with the one before."""
    n_equal = n = 0
    before = None
    for result in evcrisp.track(events, windowing=windowing):
        if before is not None:
            first = result.window.index - before.window.index
            size = max(min(len(before) - first, len(result)), 0)
            equal = before.signal[first : first + size] == result.signal[:size]
            n_equal, n = n_equal + int(equal.sum()), n + size
        before = result
    return n_equal / max(n, 1)


def _usable(results):
    return [r for r in results if r.status.is_usable and r.signal.any()]


def _truth(case, name, found, value):
    usable = len(_usable(found))
    return {"case": case, "windows by": name, "windows": len(found), "usable": usable,
            "value": float(value)}  # fmt: skip


def _recordings(data_dir):
    """Yield path and events of the recordings that can be read."""
    for pattern in RECORDINGS:
        for path in sorted(Path(data_dir).glob(pattern)):
            try:
                yield path, evcrisp.read(path)
            except (EvError, OSError):
                continue


def _show(title, rows, keys):
    cells = [
        [f"{row[k]:.3f}" if isinstance(row[k], float) else str(row[k]) for k in keys]
        for row in rows
    ]
    print_table(title, keys, cells)


PARTS = {
    "shaken": measure_shaken,
    "real": measure_real,
    "truth": measure_truth,
    "overlap": measure_overlap,
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=[], help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("-o", "--output", type=Path, help="JSON file")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown parts: {', '.join(unknown)}; known: {', '.join(PARTS)}")
    logging.disable(logging.WARNING)  # recordings without resolution
    data_dir = options.data or Path(os.environ.get("EVCRISP_DATA", "data"))
    results, start = {}, time.perf_counter()
    for part in options.parts or PARTS:
        results[part] = PARTS[part](data_dir)
        if options.output:
            seconds = round(time.perf_counter() - start)
            write_report(options.output, "windows", results, seconds=seconds)
    return results


if __name__ == "__main__":
    main()
