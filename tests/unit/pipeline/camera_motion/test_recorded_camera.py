"""The calibration of a recording is used where a motion needs a camera."""

import logging
import zipfile

import numpy as np
import pytest

import evcrisp
from evcrisp import Camera
from evcrisp.core.errors import ConfigError

CAMERA = Camera(150.0, 150.0, 79.5, 59.5)


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        motion="rotation", theta=(0.3, -1.2, 0.8), camera=CAMERA, resolution=(160, 120),
        duration_us=40_000, seed=2,
    )  # fmt: skip


def folder_of(scene, path, calib):
    path.mkdir()
    evcrisp.write(path / "events.txt", scene.events.with_signal(None))
    if calib is not None:
        (path / "calib.txt").write_text(calib)
    return path


def archive_of(scene, path, calib):
    evcrisp.write(path, scene.events.with_signal(None))
    if calib is not None:
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("calib.txt", calib)
    return path


def run(source, folder, **settings):
    with evcrisp.open(source, resolution=(160, 120)) as recording:
        return evcrisp.run(recording, folder, method="cmax", **settings).summary


@pytest.mark.parametrize(("make", "name"), [(folder_of, "scene"), (archive_of, "scene.zip")])
def test_rotation_uses_calib_txt_and_says_so(scene, tmp_path, caplog, make, name):
    source = make(scene, tmp_path / name, "150 150 79.5 59.5 0 0 0 0 0")
    with caplog.at_level(logging.INFO, "evcrisp"):
        summary = run(source, tmp_path / "out", motion="rotation")
    assert summary["camera_source"] == "calib.txt"
    assert summary["camera"]["fx"] == 150.0
    assert "using the calibration in its calib.txt: Camera(fx=150" in caplog.text
    with evcrisp.open(source, resolution=(160, 120)) as recording:
        (result,) = evcrisp.track(
            recording, "cmax", "rotation", windowing=evcrisp.Windowing(window_us=40_000)
        )
    assert np.abs(result.theta - (0.3, -1.2, 0.8)).max() < 0.1


def test_given_camera_is_used_instead(scene, tmp_path):
    source = folder_of(scene, tmp_path / "scene", "150 150 79.5 59.5")
    other = Camera(300.0, 300.0, 79.5, 59.5)
    summary = run(source, tmp_path / "out", motion="rotation", camera=other)
    assert (summary["camera"]["fx"], summary["camera_source"]) == (300.0, "given")


@pytest.mark.parametrize("motion", ["auto", "translation"])
def test_other_motions_use_no_camera(scene, tmp_path, motion):
    source = folder_of(scene, tmp_path / "scene", "not even numbers")
    summary = run(source, tmp_path / "out", motion=motion)
    assert (summary["camera"], summary["camera_source"]) == (None, None)


def test_broken_calibration_is_named_where_it_is_needed(scene, tmp_path):
    source = folder_of(scene, tmp_path / "scene", "150 150 79.5")
    with pytest.raises(ConfigError, match=r"scene: calib.txt: .*got 3\. Correct it, or set"):
        run(source, tmp_path / "out", motion="rotation")


def test_recording_without_calibration_has_no_camera(scene, tmp_path):
    with evcrisp.open(folder_of(scene, tmp_path / "scene", None)) as recording:
        assert recording.camera() is None
    with evcrisp.open(folder_of(scene, tmp_path / "empty", " \n")) as recording:
        assert recording.camera() is None
    evcrisp.write(tmp_path / "a.npz", scene.events)
    with evcrisp.open(tmp_path / "a.npz") as recording:
        assert recording.camera() is None
