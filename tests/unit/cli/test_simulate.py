"""``evcrisp simulate``: events, labels, truth file, wrong settings."""

import json

import pytest

import evcrisp


def test_simulate_writes_events_labels_and_truth(run, tmp_path):
    path = tmp_path / "scene.npz"
    words = (
        "--duration-ms",
        "20",
        "--resolution",
        "80x60",
        "--noise-hz",
        "20",
        "--theta",
        "250,-50",
    )
    assert "Wrote" in run("simulate", path, *words).stdout
    events = evcrisp.read(path)
    assert events.resolution == (80, 60)
    assert 0 < events.signal.mean() < 1
    truth = json.loads((tmp_path / "scene.npz.truth.json").read_text())
    assert truth["windows"] == [{"t_start_us": 0, "t_end_us": 20_000, "theta": [[250.0, -50.0]]}]
    assert truth["param_units"] == ["px/s", "px/s"]
    again = tmp_path / "again.npz"
    run("simulate", again, *words)
    assert again.read_bytes() == path.read_bytes()
    facts = json.loads(run("info", path, "--json").stdout)
    assert facts["n_signal"] == int(events.signal.sum())


def test_simulate_keeps_existing_files(run, tmp_path):
    words = ("--duration-ms", "5", "--resolution", "40x30")
    (tmp_path / "a.npz.truth.json").write_text("mine")
    assert "exists already" in run("simulate", tmp_path / "a.npz", *words, code=1).stderr
    assert not (tmp_path / "a.npz").exists()
    (tmp_path / "b.npz").write_text("mine")
    assert "exists already" in run("simulate", tmp_path / "b.npz", *words, code=1).stderr
    assert not (tmp_path / "b.npz.truth.json").exists()
    assert (tmp_path / "b.npz").read_text() == "mine"


def test_simulate_writes_gyroscope_to_aedat4(run, tmp_path):
    words = (
        "--motion",
        "rotation",
        "--duration-ms",
        "20",
        "--resolution",
        "80x60",
        "--noise",
        "none",
    )
    run("simulate", tmp_path / "a.aedat4", *words)
    assert json.loads(run("info", tmp_path / "a.aedat4", "--json").stdout)["imu_samples"] == 20


def test_simulate_without_imu_format_gives_no_warning(run, tmp_path):
    words = ("--motion", "rotation", "--duration-ms", "20", "--resolution", "80x60")
    assert run("simulate", tmp_path / "a.npz", *words).stderr == ""
    truth = json.loads((tmp_path / "a.npz.truth.json").read_text())
    assert len(truth["gyro"]["t_us"]) == 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--texture", "shapez"), "Did you mean 'shapes'"),
        (("--motion", "spin"), "Unknown motion model 'spin'"),
        (("--theta", "1"), "must be 2 numbers"),
        (("--set", "c_onn=1"), "Did you mean 'c_on'"),
        (("--set", "noise_hz=5", "--noise-hz", "3"), "--noise-hz and --set noise_hz are the same"),
        (("--set", "uniform-hz=5", "--noise-hz", "3"), "--noise-hz and --set uniform_hz are the"),
        (
            ("--set", "seed=5", "--seed", "0"),
            "--seed and --set seed are the same setting; give one",
        ),
        (("--noise-hz", "-1"), "Invalid value for '--noise-hz'"),
        (("--set", "camera=foo"), "--camera must be a Camera"),
        (("--set", "objects=foo"), "`objects` must be ObjectConfigs"),
        (("--set", "noise=3"), "--noise must be a NoiseConfig"),
        (("--duration-ms", "nan"), "Invalid value for '--duration-ms': expected a finite number"),
        (("--duration-ms", "1e9"), "expected 0.001 to 600000 ms; got 1e+09."),
        (("--set", "duration_us=0"), "--duration-ms must"),
        (("--set", "uniform_hz=-1"), "--noise-hz must"),
        (("--set", "t_start_us=9223372036854775800"), "`t_start_us` must"),
    ],
)
def test_simulate_explains_wrong_settings(run, tmp_path, words, message):
    assert message in run("simulate", tmp_path / "a.npz", *words, code=2).stderr
    assert list(tmp_path.iterdir()) == []


def test_simulate_without_motion_gives_empty_recording(run, tmp_path):
    run("simulate", tmp_path / "still.npz", "--theta", "0,0", "--duration-ms", "5")
    assert json.loads(run("info", tmp_path / "still.npz", "--json").stdout)["n_events"] == 0
