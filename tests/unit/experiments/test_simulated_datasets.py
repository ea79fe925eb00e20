"""Simulated data sets have the layout of the real ones, and the truth beside them."""

import itertools

import numpy as np
import pytest

import evcrisp
from evcrisp import OutputError
from evcrisp.core.camera import Camera
from evcrisp.experiments.datasets import DATASETS
from evcrisp.experiments.simulated_datasets import TWINS, make_twin, read_mark
from evcrisp.experiments.simulated_datasets.aedat2 import DAVIS346, write_aedat2


def digests(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".npz"
    }


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_has_the_layout_of_the_real_one(name, request):
    layout = DATASETS[name].layout(request.getfixturevalue(name))
    assert layout.problems == ()
    assert layout.clips


@pytest.mark.parametrize("name", ["emlb", "dnd21"])
def test_the_labels_beside_a_recording_are_those_of_its_events(name, request):
    for clip in DATASETS[name].layout(request.getfixturevalue(name)).clips:
        with np.load(clip.path.with_name(f"{clip.path.stem}.truth.npz")) as archive:
            signal = archive["signal"]
        assert len(signal) == len(evcrisp.read(clip.path))
        assert signal.any()
        assert signal.all() == (name == "dnd21")


def test_less_light_means_more_noise(emlb):
    noise = []
    for level in ("nd00", "nd04", "nd16", "nd64"):
        with np.load(next((emlb / "D-END" / level).glob("*.npz"))) as archive:
            noise.append(int((~archive["signal"]).sum()))
    assert noise == sorted(noise)
    assert noise[-1] > 10 * noise[0]


def test_same_seed_same_bytes_and_what_is_there_stays(ecd, tmp_path):
    make_twin("ecd", tmp_path / "again", small=True)
    assert digests(tmp_path / "again") == digests(ecd)
    before = {path: path.stat().st_mtime_ns for path in ecd.rglob("*")}
    make_twin("ecd", ecd, small=True)
    assert {path: path.stat().st_mtime_ns for path in ecd.rglob("*")} == before


def test_other_folders_are_not_touched(tmp_path, ecd):
    (tmp_path / "mine.txt").touch()
    with pytest.raises(OutputError, match="holds other files. Choose an empty or a new folder"):
        make_twin("emlb", tmp_path)
    with pytest.raises(OutputError, match="holds another twin"):
        make_twin("ecd", ecd, small=True, seed=7)


def test_a_twin_that_was_left_incomplete_is_completed(dnd21, tmp_path):
    def stop(path):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_twin("dnd21", tmp_path, small=True, on_file=stop)
    assert read_mark(tmp_path) is None
    make_twin("dnd21", tmp_path, small=True)
    assert digests(tmp_path) == digests(dnd21)


def test_aedat2_of_a_twin_is_read_back_as_it_was(make_events, tmp_path):
    events = make_events(5000, resolution=DAVIS346)
    write_aedat2(tmp_path / "a.aedat", events)
    assert evcrisp.read(tmp_path / "a.aedat").equals(events)


def test_poses_turn_as_the_gyroscope_says(ecd):
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


def test_the_calibration_is_one_that_we_read(ecd):
    camera = Camera.from_file(ecd / "dynamic_rotation" / "calib.txt")
    assert camera.is_distorted
    assert camera.fx == pytest.approx(199.1)


def test_two_programs_may_complete_a_twin_at_the_same_time(tmp_path):
    # The other one is done first, and takes the mark of what is not complete away.
    def other(path):
        (tmp_path / "twin" / ".twin-begun").unlink(missing_ok=True)

    twin = make_twin("ecd", tmp_path / "twin", small=True, on_file=other)
    assert read_mark(tmp_path / "twin") == twin
