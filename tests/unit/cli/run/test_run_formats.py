"""Format of the cleaned recording of ``evcrisp run``, and streams that it keeps or loses."""

import json

import numpy as np
import pytest
from tests.sensor_data import GivenData

import evcrisp
from evcrisp.core.sensor_data import TriggerKind, Triggers
from evcrisp.io import WRITERS

QUICK = ("-m", "baf+cmax", "--window-ms", 30)


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(resolution=(160, 120), duration_us=60_000, noise_hz=5.0, seed=4)


def saved(scene, path, **options):
    """Write a scene with its IMU samples and three triggers."""
    kind = np.array([TriggerKind.RISING_EDGE, TriggerKind.FALLING_EDGE, TriggerKind.RISING_EDGE])
    t, channel = np.array([1000, 2000, 50_000]), np.zeros(3, np.uint8)
    edges = Triggers(t=t, kind=kind.astype(np.uint8), channel=channel)
    data = GivenData(scene.imu, edges)
    evcrisp.write(path, scene.events.with_signal(None), sensor_data_from=data, **options)
    return path


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_cleaned_recording_has_the_chosen_format(run, scene, tmp_path, name):
    recording = saved(scene, tmp_path / "scene.aedat4")
    result = run("run", recording, "-o", tmp_path / "out", "--to", name, "--json", *QUICK)
    summary = json.loads(result.stdout)
    clean = tmp_path / "out" / summary["output"]
    assert clean.name == f"scene.clean{WRITERS[name].suffixes[0]}"
    with np.load(tmp_path / "out" / "labels.npz") as labels:
        expected = scene.events[labels["signal"]].with_signal(None)
    with evcrisp.open(clean, resolution=(160, 120)) as opened:
        assert opened.format == name
        assert opened.read().equals(expected)
        imu, triggers = opened.imu(), opened.triggers()
    keeps = WRITERS[name].keeps
    assert (imu is not None and len(imu) == len(scene.imu)) == ("imu" in keeps)
    assert (triggers is not None and len(triggers) == 3) == ("triggers" in keeps)
    message = result.stderr.partition("left out: ")[2]
    assert (f"{len(scene.imu)} IMU samples" in message) == ("imu" not in keeps)
    assert ("3 triggers" in message) == ("triggers" not in keeps)


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ("scene.raw", "scene.clean.raw"),
        ("scene.mcap", "scene.clean.mcap"),
        ("scene.db3", "scene.clean.db3"),
        ("scene.bag", "scene.clean.bag"),
        ("scene.zip", "scene.clean.zip"),
        ("scene.csv.gz", "scene.clean.csv.gz"),
    ],
)
def test_format_and_suffix_of_the_input_are_kept(run, scene, tmp_path, source, clean):
    recording = saved(scene, tmp_path / source)
    run("run", recording, "-o", tmp_path / "out", *QUICK)
    assert (tmp_path / "out" / clean).exists()


def test_folder_of_a_ros2_bag_becomes_one_file(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene", format="ros2", storage="sqlite3")
    run("run", recording, "-o", tmp_path / "out", *QUICK)
    with evcrisp.open(tmp_path / "out" / "scene.clean.mcap") as opened:
        assert len(opened.imu()) == len(scene.imu)


def test_format_that_is_not_written_becomes_aedat4(run, scene, tmp_path):
    events = scene.events
    names = ("x", "y", "t", "p")
    columns = np.rec.fromarrays([getattr(events, name) for name in names], names=names)
    np.save(tmp_path / "scene.npy", columns)
    words = ("--resolution", "160x120", *QUICK)
    run("run", tmp_path / "scene.npy", "-o", tmp_path / "out", *words)
    with evcrisp.open(tmp_path / "out" / "scene.clean.aedat4") as opened:
        assert opened.resolution == (160, 120)
        assert 0 < len(opened.read()) < len(events)


def test_unknown_format_is_explained(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.aedat4")
    message = run("run", recording, "-o", tmp_path / "out", "--to", "rosbag", code=2).stderr
    assert "Unknown output format 'rosbag'" in message
    assert "ros2" in message
    assert not (tmp_path / "out").exists()


def test_writer_with_options_is_accepted(scene, tmp_path):
    from evcrisp.io.ros.writers import Ros2Writer

    recording = saved(scene, tmp_path / "scene.aedat4")
    windowing = evcrisp.Windowing(window_us=30_000)
    writer = Ros2Writer(compression="lz4")
    options = {"method": "baf+cmax", "windowing": windowing}
    packed = evcrisp.run(recording, tmp_path / "a", to=writer, **options)
    plain = evcrisp.run(recording, tmp_path / "b", to="ros2", **options)
    assert packed.cleaned.stat().st_size < plain.cleaned.stat().st_size
    assert evcrisp.read(packed.cleaned).equals(evcrisp.read(plain.cleaned))
