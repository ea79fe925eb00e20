"""Laws of the motion search: how far motion and labels change with a symmetry. Prints JSON.

Command: ``python -m benchmarks.quality.laws [--data FOLDER] [--methods auto cmax ...]``. A table goes
to stderr.

Compared: a method on a window, and the same method on the mirrored, transposed, ... window, of which
the result is taken back. The motion differs by the distance between displacements over the window, px,
root mean square over the events; labels by the share of events with another label.

Windows: simulated scenes with 5 Hz/px of noise, and windows of 30 ms of real recordings.

Floor: 0. A method that reads events in the order of time, such as `baf+cmax`, labels other events if
time is reversed.
"""

import argparse
import logging
import time
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table, report
from benchmarks.quality import scenes
from benchmarks.quality.window_symmetries import SYMMETRIES, models

import evcrisp
from evcrisp.core.windows import Window, by_time
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.registry import ESTIMATORS

WINDOW_US = 30_000

#: Recordings, below the folder of real data.
RECORDINGS = (
    "ecd/stppp_dynamic_rotation", "ecd/stppp_boxes_rotation", "ecd/stppp_dynamic_translation",
    "ecd/stppp_boxes_translation", "ecd/stppp_poster_rotation", "ecd/stppp_poster_translation",
    "ecd/tubrip_boxes_rotation", "ecd/tubrip_dynamic_rotation", "ecd/tubrip_shapes_rotation",
    "ecd/shapes_rotation_first120k", "ecd/slider_depth_chunk",
    "aedat2/davis240c_IMU_rotDisk.aedat", "emlb/demo-01.aedat4",
    "aedat4/dvxplorer_320x240_tonic_sample.aedat4",
    "aedat4/dvs128_hand_2024-06-20_16-13-00.aedat4", "aedat2/dvs128_reveal6.aedat",
    "aedat2/dvs128_MovingDarkBox.aedat", "dvs128-mat/stripes.mat", "dvs128-mat/building.mat",
    "prophesee/gen41_1280x720_evt3_sample.raw", "eventstream/dvs.es",
    "ros/ros1_evt3_640x480_test_events_1.bag", "ros/ros2_libcaer_cmp_davis346_test_events_2",
)  # fmt: skip


def real_windows(data, per_recording):
    """Yield name and window of the recordings, at evenly spaced places."""
    for name in RECORDINGS:
        path = data / name
        if name.startswith("ecd/"):
            path = next(path.glob("events*"))
        windows = [w for w in by_time(evcrisp.read(path), WINDOW_US) if len(w.events) > 1000]
        places = (np.arange(per_recording) + 0.5) / per_recording * len(windows)
        for i in sorted({int(place) for place in places}):
            if i < len(windows):
                yield f"{name} {i}", windows[i]


def simulated_windows(n):
    """Yield name and window of simulated scenes."""
    for i in range(n):
        settings = {**scenes.scene_settings(i % scenes.N_SCENES), "seed": 500 + i}
        scene = evcrisp.simulate(**settings, noise_hz=5.0)
        yield (
            f"simulated {scenes.name_of(i % scenes.N_SCENES)}",
            Window(scene.events.with_signal(None), 0, scenes.DURATION_US),
        )


def differences(method, motion, window):
    """Return the differences of motion and labels of a window by symmetry."""
    found, resolution = {}, window.events.resolution
    estimator = ESTIMATORS[method]()
    for symmetry in SYMMETRIES:
        if motion == "auto":
            one = other = model_for(motion, resolution, None, estimator)
        else:
            one, other = models(motion, resolution, symmetry)
        changed, order = symmetry.apply(window)
        first = evcrisp.estimate(window, estimator, one)
        second = evcrisp.estimate(changed, estimator, other)
        found[symmetry.name] = symmetry.difference(first, second, order)
    return found


def summary(rows):
    """Return median, 90 % and largest difference by symmetry, of a list of `differences`."""
    result = {}
    for name in rows[0]:
        moved, labels = np.array([row[name] for row in rows]).T
        result[name] = {
            "motion_px": [float(np.quantile(moved, q)) for q in (0.5, 0.9, 1.0)],
            "labels_percent": [100.0 * float(np.quantile(labels, q)) for q in (0.5, 0.9, 1.0)],
            "share_above_0.005_px": float(np.mean(moved > 0.005)),
            "share_above_0.2_percent": float(np.mean(labels > 0.002)),
        }
    return result


def show(title, laws):
    """Print a table to stderr."""
    header = ["symmetry", "motion px: median, 90 %, max", "above 0.005", "labels %", "above 0.2 %"]
    rows = [
        [
            name,
            " ".join(f"{v:8.5f}" for v in law["motion_px"]),
            f"{100 * law['share_above_0.005_px']:.0f} %",
            " ".join(f"{v:6.3f}" for v in law["labels_percent"]),
            f"{100 * law['share_above_0.2_percent']:.0f} %",
        ]
        for name, law in laws.items()
    ]
    print_table(title, header, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("--methods", nargs="+", default=["auto", "cmax", "exact", "eja", "entropy"])
    parser.add_argument("--motions", nargs="+", default=["translation"])
    parser.add_argument("--scenes", type=int, default=18, help="number of simulated scenes")
    parser.add_argument("--per-recording", type=int, default=2, help="windows of each recording")
    parser.add_argument("--windows", action="store_true", help="report every window too")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # recordings without a resolution
    start = time.perf_counter()
    windows = list(simulated_windows(options.scenes))
    if options.data:
        windows += real_windows(options.data, options.per_recording)
    results = {}
    for method in options.methods:
        for motion in options.motions:
            rows = [differences(method, motion, window) for _, window in windows]
            groups = {
                "simulated": rows[: options.scenes],
                "real": rows[options.scenes :],
            }
            key = f"{method}, {motion}"
            results[key] = {name: summary(part) for name, part in groups.items() if part}
            if options.windows:
                names = [name for name, _ in windows]
                results[key]["windows"] = dict(zip(names, rows, strict=True))
            for name, law in results[key].items():
                if name != "windows":
                    show(f"{key}, {name} ({len(groups[name])} windows)", law)
    settings = {**vars(options), "data": None if options.data is None else "given"}
    report("laws", results, **settings, seconds=round(time.perf_counter() - start))


if __name__ == "__main__":
    main()
