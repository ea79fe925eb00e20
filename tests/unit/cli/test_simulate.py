"""``evcrisp simulate``: events, labels, truth file, wrong settings."""

import json

import numpy as np
import pytest

import evcrisp
from evcrisp.simulation import (
    NoiseConfig,
    ObjectConfig,
    SceneConfig,
    Shear,
    SimulationConfig,
    Vortex,
)


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


def test_simulate_has_objects_fields_and_measured_noise(run, tmp_path):
    for sign in ("pos", "neg"):
        counts = np.zeros((2, 2, 72))
        counts[..., 40:-1] = 3.0  # intervals at 50 Hz
        np.save(tmp_path / f"noise_{sign}_1lux.npy", counts)
    run(
        "simulate", tmp_path / "a.npz", "--duration-ms", "30", "--resolution", "96x64",
        "--field", "vortex peak_px_s=150 center=0.4,0.5",
        "--object", "theta=150,-50,3,0.5 center=0.3,0.4 size=0.2,0.3",
        "--object", "theta=-90,0 motion=translation texture=dots outline=rectangle",
        "--object", "field=shear:rate_per_s=2 outline=patches size=0.1,0.1",
        "--noise-measured", tmp_path,
    )  # fmt: skip
    events = evcrisp.read(tmp_path / "a.npz")
    config = SimulationConfig(
        resolution=(96, 64),
        duration_us=30_000,
        field=Vortex(peak_px_s=150, center=(0.4, 0.5)),
        scene=SceneConfig(
            objects=(
                ObjectConfig(
                    motion="similarity",
                    theta=(150, -50, 3, 0.5),
                    center=(0.3, 0.4),
                    size=(0.2, 0.3),
                ),
                ObjectConfig(
                    motion="translation", theta=(-90, 0), texture="dots", outline="rectangle"
                ),
                ObjectConfig(field=Shear(rate_per_s=2), outline="patches", size=(0.1, 0.1)),
            )
        ),
        noise=NoiseConfig(measured=tmp_path),
    )
    expected = evcrisp.simulate(config)
    assert set(np.unique(expected.object)) == {0, 1, 2, 3, 255}
    assert events.equals(expected.events)
    truth = json.loads((tmp_path / "a.npz.truth.json").read_text())
    assert truth["layers"][0] == {"field": "vortex"}
    assert truth["layers"][1] == {"motion": "similarity", "pivot": [0.3, 0.4]}
    assert truth["windows"][0]["theta"] == [[], [150.0, -50.0, 3.0, 0.5], [-90.0, 0.0], []]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--object", "foo"), "--object expects KEY=VALUE, separated by spaces; got 'foo'"),
        (("--object", "theta=1,2"), "`theta` of object 1 of motion 'similarity' must be 4 numbers"),
        (("--object", "theta=1,a"), "expected finite numbers separated by commas; got '1,a'"),
        (("--object", "thta=1,2,3,4"), "has no option 'thta'. Did you mean 'theta'"),
        (("--object", "theta=1,2,3,4 size=1,1 size=2,2"), "--object has 'size' twice"),
        (("--object", "size=1,1"), "must have `theta` or a velocity `field`"),
        (("--field", "vortx"), "Unknown velocity field 'vortx'. Did you mean 'vortex'"),
        (("--field", ""), "Unknown velocity field ''"),
        (("--field", "vortex speed=3"), "has no option 'speed'"),
        (("--field", "vortex 300"), "--field expects KEY=VALUE, separated by spaces; got '300'"),
        (("--field", "vortex", "--theta", "1,2"), "`theta` and `field` are two motions"),
        (("--field", "vortex", "--trajectory", "sine"), "--trajectory must be 'constant'"),
        (("--set", "field=vortx"), "Unknown velocity field 'vortx'"),
        (("--noise-measured", "none"), "Invalid value for '--noise-measured'"),
        (("--noise-measured", "."), "--noise-measured holds no file noise_pos_<lux>.npy"),
    ],
)
def test_simulate_explains_wrong_objects_and_fields(run, tmp_path, words, message):
    assert message in run("simulate", tmp_path / "a.npz", *words, code=2).stderr
    assert list(tmp_path.iterdir()) == []
