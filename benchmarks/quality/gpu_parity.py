"""Motions and labels of a device against those of the CPU. Prints JSON, and a table to stderr.

Command: ``python -m benchmarks.quality.gpu_parity [--device cuda] [--data FOLDER]``.

Compared: method `auto`, window by window, from a cold search: simulated windows of several textures, noise
of 0.5 to 20 Hz/px and 10 to 60 ms, with one given motion, and with objects whose motions are found
(`auto`); windows of real recordings below FOLDER, the busiest 30 ms of each, with a given motion and with
`auto`; and the filters with a parallel form, event by event.

A machine with a GPU may have no numba. ``--write FILE`` stores the windows with the results of the
compiled kernels on another machine, and ``--read FILE`` compares the device with those.

equal       share of the events whose labels, and layers, are the same
theta       largest distance between positions warped by both motions over a window, px; with `auto`,
            of the events of equal layers
repeated    with ``deterministic``: whether a second run gives the same bits

Targets: equal at least 0.999 and theta at most 0.05 px in every window; filters equal.
"""

import argparse
import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from benchmarks.measure import print_table, report

import evcrisp
from evcrisp.core.events import Events
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.estimate import model_for
from evcrisp.filters import denoise
from evcrisp.motion.open_motion import is_open
from evcrisp.simulation import ObjectConfig
from evcrisp.tensors.devices import torch_device

SIZE = (346, 260)
LENGTH_US = 30_000
FILTERS = ("baf", "stcf", "ynoise", "ebf")

#: Motion, and its parameters.
MOTIONS = {
    "translation": (300.0, -120.0),
    "rotation": (0.5, -0.3, 1.0),
    "similarity": (200.0, 50.0, 1.0, 0.5),
    "auto": (150.0, -60.0),
}

#: Objects of the windows whose motions are found: none, one or two.
OBJECTS = (
    ObjectConfig(theta=(-260.0, 90.0), size=(0.35, 0.4), texture="rocks"),
    ObjectConfig(theta=(60.0, -280.0), center=(0.75, 0.7), size=(0.3, 0.4), texture="dots"),
)

#: Texture, noise per px, Hz, and length of windows, us; of each motion, the first ones.
SCENES = (
    ("shapes", 5.0, 30_000), ("rocks", 0.5, 10_000), ("dots", 20.0, 20_000),
    ("shapes", 20.0, 60_000), ("rocks", 10.0, 20_000), ("dots", 2.0, 40_000),
    ("shapes", 0.5, 10_000), ("rocks", 2.0, 30_000), ("dots", 10.0, 60_000),
)  # fmt: skip

#: Recordings below FOLDER with the motion that is estimated.
RECORDINGS = {
    "ecd/shapes_rotation_first120k": "rotation", "ecd/stppp_boxes_rotation": "rotation",
    "ecd/stppp_poster_rotation": "rotation", "ecd/tubrip_dynamic_rotation": "rotation",
    "ecd/stppp_boxes_translation": "translation", "ecd/slider_depth_chunk": "translation",
    "aedat2/dvs128_MovingDarkBox.aedat": "translation",
    "aedat4/dvxplorer_320x240_tonic_sample.aedat4": "translation",
    "prophesee/gen3_640x480_evt2_sample.raw": "translation",
    "prophesee/ncars_obj_004397_td.dat": "translation",
}  # fmt: skip


def simulated(motion, n, size=SIZE):
    """Return windows of a motion by name."""
    out = {}
    for seed, (texture, noise_hz, duration_us) in enumerate(SCENES[:n]):
        objects = OBJECTS[: (seed + 1) % 3] if motion == "auto" else ()
        scene = evcrisp.simulate(
            motion="translation" if motion == "auto" else motion, theta=MOTIONS[motion], texture=texture,
            noise_hz=noise_hz, seed=seed, duration_us=duration_us, resolution=size, objects=objects,
        )  # fmt: skip
        name = f"{motion}, {texture}, {noise_hz:g} Hz, {duration_us // 1000} ms"
        out[name] = Window(scene.events, 0, duration_us), motion, None
    return out


def busiest(events, length_us=LENGTH_US, most=200_000):
    """Return the window of a length with the most events; at most so many of them."""
    starts = np.arange(
        int(events.t[0]), max(int(events.t[-1]) - length_us, int(events.t[0])) + 1, length_us // 2
    )
    counts = np.searchsorted(events.t, starts + length_us) - np.searchsorted(events.t, starts)
    start = int(starts[np.argmax(counts)])
    part = events.between(start, start + length_us)[:most]
    return Window(part, start, min(start + length_us, int(part.t[-1]) + 1))


def recorded(folder):
    """Return windows of the recordings that are there."""
    out = {}
    for name, motion in RECORDINGS.items():
        path = folder / name
        if not path.exists():
            continue
        camera = None
        if path.is_dir() and motion == "rotation":
            camera = evcrisp.Camera.from_file(path / "calib.txt")
        source = next(path.glob("events*")) if path.is_dir() else path
        out[name] = busiest(read_start(source)), motion, camera
        out[f"{name}, auto"] = out[name][0], "auto", None
    return out


def read_start(path, most=1_000_000):
    """Return the first events of a recording."""
    parts, n = [], 0
    with evcrisp.open(path, on_error="truncate") as recording:
        for chunk in recording.chunks():
            parts.append(chunk)
            n += len(chunk)
            if n >= most:
                break
    return Events.concatenate(parts)


def estimates(windows, model, device, deterministic=False):
    """Return the estimates of windows on a device; of the compiled kernels for "cpu"."""
    from evcrisp.estimators.devices import device_method

    method = device_method(AutoRegret(), model, device, deterministic=deterministic)
    if method is None:
        return [AutoRegret().run(window, model) for window in windows]
    return method.estimate(windows)


def difference_px(found, expected):
    """Return the largest distance between positions warped by two motions over the window, px."""
    window, theta = found.window, expected.theta
    if expected.velocity is not None:
        same = found.layer == expected.layer
        distance = np.linalg.norm(found.velocity[same] - expected.velocity[same], axis=1)
        return float(distance.max(initial=0.0)) * (window.t_end - window.t_start) / 1e6
    width, height = window.events.resolution
    x, y = np.meshgrid(np.linspace(0, width - 1, 5), np.linspace(0, height - 1, 5))
    length_s = (window.t_end - window.t_start) / 1e6
    a, b = (found.motion.warp(one, x, y, length_s) for one in (found.theta, theta))
    return float(np.nanmax(np.hypot(a[0] - b[0], a[1] - b[1])))


@dataclass(frozen=True, slots=True)
class Expected:
    """Results of the reference for a window."""

    theta: np.ndarray
    signal: np.ndarray
    status: str
    filters: dict  # scores by the name of a filter
    layer: np.ndarray  # of each event, -1 for noise
    velocity: np.ndarray | None  # of each event, px/s, where the motion is found


def reference_of(window, model, reference):
    """Return the results of the reference."""
    (found,) = estimates([window], model, reference)
    velocity = found.velocity if is_open(model) else None
    scores = {name: denoise(window.events, name, device=reference).score for name in FILTERS}
    columns = found.theta, found.signal, found.status.name, scores, found.layer, velocity
    return Expected(*columns)


def stored(path, windows, expected):
    """Write windows with the results of the reference to a file."""
    arrays = {}
    for k, (name, (window, motion, camera)) in enumerate(windows.items()):
        events, one = window.events, expected[name]
        facts = {
            "name": name, "motion": motion, "status": one.status, "resolution": events.resolution,
            "ends": (window.t_start, window.t_end), "camera": None if camera is None else asdict(camera),
        }  # fmt: skip
        columns = {"x": events.x, "y": events.y, "t": events.t, "p": events.p, "theta": one.theta}
        columns |= {} if one.velocity is None else {"velocity": one.velocity}
        columns |= {"signal": one.signal, "layer": one.layer, "facts": np.array(json.dumps(facts))}
        columns |= {f"score_{name}": score for name, score in one.filters.items()}
        arrays |= {f"{k}/{name}": column for name, column in columns.items()}
    np.savez_compressed(path, **arrays)


def loaded(path):
    """Return windows and the results of the reference from a file."""
    windows, expected = {}, {}
    with np.load(path) as arrays:
        for k in range(len({key.partition("/")[0] for key in arrays})):
            facts = json.loads(str(arrays[f"{k}/facts"]))
            columns = {name: arrays[f"{k}/{name}"] for name in "xytp"}
            events = Events(**columns, resolution=facts["resolution"])
            camera = None if facts["camera"] is None else evcrisp.Camera(**facts["camera"])
            windows[facts["name"]] = Window(events, *facts["ends"]), facts["motion"], camera
            scores = {name: arrays[f"{k}/score_{name}"] for name in FILTERS}
            columns = arrays[f"{k}/theta"], arrays[f"{k}/signal"], facts["status"], scores
            velocity = arrays.get(f"{k}/velocity")
            expected[facts["name"]] = Expected(*columns, arrays[f"{k}/layer"], velocity)
    return windows, expected


def model_of(window, motion, camera):
    """Return the motion model of a window."""
    return model_for(motion, window.events.resolution, camera, AutoRegret())


def compared(windows, expected, device, deterministic):
    """Return the agreement of each window."""
    rows = {}
    for name, (window, motion, camera) in windows.items():
        model, wanted = model_of(window, motion, camera), expected[name]
        (found,) = estimates([window], model, device, deterministic)
        same = (found.signal == wanted.signal) & (found.layer == wanted.layer)
        rows[name] = {
            "events": len(window.events),
            "layers": int(wanted.layer.max(initial=0)) + 1,
            "equal": float(same.mean()),
            "different": int((~same).sum()),
            "theta_px": difference_px(found, wanted),
            "status": found.status.name == wanted.status,
        }
        if deterministic:
            (again,) = estimates([window], model, device, deterministic)
            same = found.theta.tobytes() == again.theta.tobytes()
            rows[name]["repeated"] = same and found.score.tobytes() == again.score.tobytes()
    return rows


def compared_filters(windows, expected, device):
    """Return the number of events with different scores of each filter, which labels follow."""
    rows = dict.fromkeys(FILTERS, 0)
    for key, (window, *_) in windows.items():
        for name in FILTERS:
            found = denoise(window.events, name, device=device)
            rows[name] += int((found.score != expected[key].filters[name]).sum())
    return rows


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--reference", default="cpu", help="cpu, or torch-cpu without numba")
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("--scenes", type=int, default=len(SCENES), help="of each motion")
    parser.add_argument("--motions", nargs="*", default=list(MOTIONS))
    parser.add_argument("--size", type=int, nargs=2, default=SIZE)
    parser.add_argument("--deterministic", action="store_true")
    parser.add_argument("--write", type=Path, help="store windows and reference, and end")
    parser.add_argument("--read", type=Path, help="take windows and reference from a file")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    if options.write is None:
        torch_device(options.device)  # raises before anything is simulated
    if options.read is not None:
        windows, expected = loaded(options.read)
    else:
        windows = {}
        for motion in options.motions:
            windows |= simulated(motion, options.scenes, tuple(options.size))
        if options.data is not None:
            windows |= recorded(options.data)
        expected = {
            name: reference_of(one[0], model_of(*one), options.reference)
            for name, one in windows.items()
        }
    if options.write is not None:
        stored(options.write, windows, expected)
        return
    rows = compared(windows, expected, options.device, options.deterministic)
    filters = compared_filters(windows, expected, options.device)
    results = {
        "windows": rows,
        "filters": filters,
        "least_equal": min(row["equal"] for row in rows.values()),
        "largest_theta_px": max(row["theta_px"] for row in rows.values()),
        "events": sum(row["events"] for row in rows.values()),
        "different": sum(row["different"] for row in rows.values()),
        "repeated": all(row.get("repeated", True) for row in rows.values()),
    }
    print_table(
        f"Labels and motions: {options.device} against {options.reference}",
        ("window", "events", "different", "theta, px"),
        [
            (name, f"{row['events']:,}", f"{row['different']}", f"{row['theta_px']:.1e}")
            for name, row in rows.items()
        ],
    )
    print_table("Filters: events that differ", FILTERS, [[str(filters[name]) for name in FILTERS]])
    report(
        "quality.gpu_parity", results, device=options.device, reference=options.reference,
        deterministic=options.deterministic,
    )  # fmt: skip


if __name__ == "__main__":
    main()
