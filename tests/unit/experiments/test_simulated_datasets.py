"""Simulated data sets: layout, true labels, and repeatability."""

import itertools

import numpy as np
import pytest

import evcrisp
from evcrisp import OutputError
from evcrisp.core.camera import Camera
from evcrisp.experiments.datasets import DATASETS
from evcrisp.experiments.simulated_datasets import WRITERS, read_marker, simulate_dataset
from evcrisp.experiments.simulated_datasets.dnd21 import DAVIS346, write_aedat2


def digests(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".npz"
    }


@pytest.mark.parametrize("name", WRITERS)
def test_simulated_dataset_has_real_layout(name, request):
    layout = DATASETS[name].layout(request.getfixturevalue(name))
    assert layout.problems == ()
    assert layout.clips


@pytest.mark.parametrize("name", ["emlb", "dnd21"])
def test_true_labels_belong_to_recording(name, request):
    for clip in DATASETS[name].layout(request.getfixturevalue(name)).clips:
        with np.load(clip.path.with_name(f"{clip.path.stem}.truth.npz")) as archive:
            signal = archive["signal"]
        assert len(signal) == len(evcrisp.read(clip.path))
        assert signal.any()
        assert signal.all() == (name == "dnd21")


def test_noise_grows_as_light_decreases(emlb):
    noise = []
    for level in ("nd00", "nd04", "nd16", "nd64"):
        with np.load(next((emlb / "D-END" / level).glob("*.npz"))) as archive:
            noise.append(int((~archive["signal"]).sum()))
    assert noise == sorted(noise)
    assert noise[-1] > 10 * noise[0]


def test_equal_seeds_give_equal_bytes_and_complete_set_is_unchanged(ecd, tmp_path):
    simulate_dataset("ecd", tmp_path / "again", small=True)
    assert digests(tmp_path / "again") == digests(ecd)
    before = {path: path.stat().st_mtime_ns for path in ecd.rglob("*")}
    simulate_dataset("ecd", ecd, small=True)
    assert {path: path.stat().st_mtime_ns for path in ecd.rglob("*")} == before


def test_folder_with_other_files_raises(tmp_path, ecd):
    (tmp_path / "mine.txt").touch()
    with pytest.raises(OutputError, match="holds other files. Choose an empty or a new folder"):
        simulate_dataset("emlb", tmp_path)
    with pytest.raises(OutputError, match="holds another simulated data set"):
        simulate_dataset("ecd", ecd, small=True, seed=7)


def test_incomplete_set_is_completed(dnd21, tmp_path):
    def stop(path):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_dataset("dnd21", tmp_path, small=True, on_file=stop)
    assert read_marker(tmp_path) is None
    simulate_dataset("dnd21", tmp_path, small=True)
    assert digests(tmp_path) == digests(dnd21)


def test_aedat2_round_trip(make_events, tmp_path):
    events = make_events(5000, resolution=DAVIS346)
    write_aedat2(tmp_path / "a.aedat", events)
    assert evcrisp.read(tmp_path / "a.aedat").equals(events)


def test_poses_agree_with_gyroscope(ecd):
    """The rotation between two poses is the integral of the angular velocity."""
    folder = ecd / "boxes_rotation"
    poses = np.loadtxt(folder / "groundtruth.txt")
    imu = np.loadtxt(folder / "imu.txt")
    for first, second in itertools.pairwise(poses):
        a, b = matrix(first[4:]), matrix(second[4:])
        turned = a.T @ b
        angle = 0.5 * np.array(
            [turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]]
        )
        inside = (imu[:, 0] >= first[0]) & (imu[:, 0] < second[0])
        rate = angle / (second[0] - first[0])
        assert rate == pytest.approx(imu[inside, 4:].mean(axis=0), abs=0.05)


def matrix(quaternion):
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_calibration_is_readable(ecd):
    camera = Camera.from_file(ecd / "dynamic_rotation" / "calib.txt")
    assert camera.is_distorted
    assert camera.fx == pytest.approx(199.1)


def test_two_processes_can_complete_one_set(tmp_path):
    # The other process finishes first and removes the marker of incomplete sets.
    def other(path):
        (tmp_path / "set" / ".twin-begun").unlink(missing_ok=True)

    simulated = simulate_dataset("ecd", tmp_path / "set", small=True, on_file=other)
    assert read_marker(tmp_path / "set") == simulated
