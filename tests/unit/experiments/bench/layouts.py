"""Small stand-ins of public data sets, written by the tests themselves from simulated scenes."""

import numpy as np

import evcrisp
from evcrisp.core.flow import Flow
from evcrisp.simulation import ObjectConfig

DAVIS346 = (346, 260)


def scene_of(resolution, seed=1, **settings):
    """Return a scene with noise; events and labels fit the sensor of a data set."""
    options = {"duration_us": 60_000, "noise_hz": 3.0, "theta": (200.0, -80.0), **settings}
    return evcrisp.simulate(resolution=resolution, seed=seed, **options)


def small(scene, n=4000):
    return scene.events[:n]


def write_ed24(root):
    """Write `SCENE/SCENE_LEVEL.txt`: t x y p label, 1 = noise; the first has a header."""
    for level, noise_hz in (("1.8", 2.0), ("2.5", 8.0)):
        events = small(scene_of(DAVIS346, noise_hz=noise_hz))
        table = np.column_stack((events.t, events.x, events.y, events.p, ~events.signal))
        path = root / "Pedestrain_06" / f"Pedestrain_06_{level}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        header = "t x y p label" if level == "1.8" else ""
        np.savetxt(path, table.astype(int), fmt="%d", header=header, comments="")
    return events


def write_led(root, n_slices=3):
    """Write `denoise_events`, `noise_events`, `raw_events`, in each `SCENE/00031.npy`: (4, n)."""
    events = small(scene_of((320, 200)), 9000)
    for k in range(n_slices):
        start = int(events.t[0]) + 10_000 * k
        part = events.between(start, start + 10_000)
        kinds = {"denoise_events": part.signal, "noise_events": ~part.signal}
        kinds["raw_events"] = np.ones(len(part), bool)
        for folder, chosen in kinds.items():
            some = part[chosen]
            path = root / folder / "scene_100" / f"{31 + k:05d}.npy"
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, np.stack((some.x, some.y, some.p, some.t)).astype(np.int64))
    return events


def write_dvsclean(root):
    """Write HDF5 files with timestamp, x, y, polarity and label, 0 = signal."""
    import h5py

    events = small(scene_of((320, 200)))
    names = ("simulated_data/MAH00444_50", "simulated_data/MAH00444_100", "real_data/indoor/a")
    for name in names:
        path = root / f"{name}.hdf5"
        path.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(path, "w") as file:
            group = file.create_group("events")
            group["timestamp"], group["polarity"] = events.t, events.p.astype(float)
            group["x"], group["y"] = events.x, events.y
            if "simulated" in name:
                group["label"] = (~events.signal).astype(np.uint8)
    return events


def write_remot(root, n_frames=6):
    """Write NAME.mat (x y p t frame) and NAMEGT.mat (cells of boxes and ids); an object moves."""
    from scipy.io import savemat

    thing = ObjectConfig(theta=(120.0, 0.0), center=(0.3, 0.5), size=(0.2, 0.3))
    scene = evcrisp.simulate(
        resolution=DAVIS346, theta=(0.0, 0.0), objects=(thing,), duration_us=n_frames * 40_000,
        noise_hz=0.3, seed=2,
    )  # fmt: skip
    events = scene.events
    frame = 1 + (events.t - events.t[0]) // 40_000
    table = np.column_stack((events.x, events.y, events.p, events.t, frame)).astype(np.int32)
    boxes, ids = np.empty((n_frames + 2, 1), object), np.empty((n_frames + 2, 1), object)
    for k in range(n_frames + 2):
        middle = 0.3 * DAVIS346[0] + 120.0 * 0.04 * (k - 0.5)
        box = (middle - 0.1 * DAVIS346[0], 0.35 * DAVIS346[1], 0.2 * DAVIS346[0], 0.3 * DAVIS346[1])
        boxes[k, 0], ids[k, 0] = np.array([box]), np.array([[7]])
    root.mkdir(parents=True, exist_ok=True)
    savemat(root / "inbound.mat", {"events": table})
    savemat(root / "inboundGT.mat", {"gtBoxes": boxes, "gtIDs": ids})
    return scene


def write_dvsflow16(root):
    """Write an AEDAT 2.0 file and the field of a translation; rows count from the bottom."""
    from scipy.io import savemat

    from evcrisp.experiments.simulated_datasets.dnd21 import write_aedat2

    scene = scene_of(DAVIS346, theta=(12.0, 4.0), duration_us=2_500_000, noise_hz=0.0)
    root.mkdir(parents=True, exist_ok=True)
    write_aedat2(root / "TranslatingBarX.aedat", scene.events.with_signal(None))
    write_aedat2(root / "Other.aedat", small(scene).with_signal(None))
    field = np.ones((260, 346))
    content = {"vxGT": 12.0 * field, "vyGT": -4.0 * field, "ts": [[500_000, 2_400_000]]}
    savemat(root / "gtTranslatingBarX.mat", content)
    return scene


def write_mvsec(root):
    """Write SEQUENCE_data.hdf5 and SEQUENCE_gt_flow_dist.npz: px from one time to the next."""
    import h5py

    scene = scene_of(DAVIS346, t_start_us=1_000_000, duration_us=150_000)
    events = scene.events
    root.mkdir(parents=True, exist_ok=True)
    table = np.column_stack((events.x, events.y, events.t / 1e6, 2.0 * events.p - 1.0))
    with h5py.File(root / "indoor_flying1_data.hdf5", "w") as file:
        file["davis/left/events"] = table
    t = 1.0 + 0.02 + 0.04 * np.arange(4)
    shift = np.ones((4, 260, 346))
    truth = {"timestamps": t, "x_flow_dist": 8.0 * shift, "y_flow_dist": -3.2 * shift}
    (root / "gt").mkdir()
    np.savez(root / "gt" / "indoor_flying1_gt_flow_dist.npz", **truth)
    return scene


def write_dsec(root):
    """Write SEQUENCE/events/left/events.h5, a rectify map that shifts, and fields of 100 ms."""
    import h5py

    scene = scene_of((640, 480), duration_us=260_000, theta=(100.0, -40.0), noise_hz=0.5)
    events = root / "train_events" / "thun_00_a" / "events" / "left"
    events.mkdir(parents=True)
    evcrisp.write(events / "events.h5", scene.events.with_signal(None), format="dsec")
    y, x = np.mgrid[:480, :640]
    with h5py.File(events / "rectify_map.h5", "w") as file:
        file["rectify_map"] = np.stack((x + 5.0, y - 3.0), axis=2).astype(np.float32)
    flow = root / "train_optical_flow" / "thun_00_a" / "flow"
    (flow / "forward").mkdir(parents=True)
    t0 = int(scene.events.t[0])
    times = [(t0 + 20_000, t0 + 120_000), (t0 + 120_000, t0 + 220_000)]
    lines = ["# from_timestamp_us, to_timestamp_us", *(f"{a}, {b}" for a, b in times)]
    (flow / "forward_timestamps.txt").write_text("\n".join(lines) + "\n")
    for k, (a, b) in enumerate(times):
        field = Flow(np.full((480, 640, 2), (100.0, -40.0)), np.ones((480, 640), bool), a, b)
        evcrisp.write_flow(flow / "forward" / f"{2 * k:06d}.png", field)
    return scene


def write_own(root):
    """Write a labeled and an unlabeled recording, in two folders."""
    (root / "lab").mkdir(parents=True)
    scene = scene_of((96, 72), noise_hz=8.0)
    evcrisp.write(root / "scene.npz", scene.events)
    evcrisp.write(root / "lab" / "take.aedat4", scene.events.with_signal(None))
    (root / "notes.txt").write_text("nothing to read\n")
    (root / "README.md").write_text("# notes\n")
    return scene


WRITERS = {
    "ed24": write_ed24,
    "led": write_led,
    "dvsclean": write_dvsclean,
    "remot": write_remot,
    "dvsflow16": write_dvsflow16,
    "mvsec": write_mvsec,
    "dsec": write_dsec,
    "recordings": write_own,
}
