"""Every program of the gallery runs, and its pictures and numbers show what its text says."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import evcrisp
from evcrisp.metrics import rank_auc

plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")

pytestmark = pytest.mark.slow

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
PROGRAMS = sorted(path.name for path in GALLERY.glob("*.py"))

#: Longer programs are no examples.
MAX_LINES = 60


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs a program, and returns its variables, its output and its figure."""
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)

    def call(name, *words):
        (program,) = GALLERY.glob(f"*_{name}.py")
        monkeypatch.setattr(sys, "argv", [str(program), *map(str, words)])
        scope = runpy.run_path(str(program), run_name="__main__")
        assert len(plt.get_fignums()) == 1
        return scope, capsys.readouterr().out

    yield call
    plt.close("all")


def numbers(line):
    return [float(word) for word in re.findall(r"-?\d+(?:\.\d+)?", line)]


def test_clean_finds_motion_and_labels(run):
    scope, printed = run("clean")
    for window in scope["windows"]:
        assert np.hypot(*(window.theta[:2] - (220, -90))) < 10
    assert all(value > 0.95 for value in numbers(printed)[-2:])


def test_clean_takes_a_file(run, tmp_path):
    scene = evcrisp.simulate(resolution=(120, 90), duration_us=40_000, noise_hz=5.0, seed=2)
    evcrisp.write(tmp_path / "scene.aedat4", scene.events.with_signal(None))
    scope, printed = run("clean", tmp_path / "scene.aedat4")
    assert len(scope["signal"]) == len(scene.events)
    assert "signal kept" not in printed


def test_long_recording_loses_its_floor_of_noise(run):
    scope, printed = run("long_recording")
    before, after = evcrisp.read(scope["source"]), evcrisp.read(scope["target"])
    assert printed.strip() == f"kept {len(after):,} events"
    recorded, filtered = (np.array(line.get_ydata()) for line in scope["axes"].lines)
    assert recorded.sum() * 10 == pytest.approx(len(before))
    floor_khz = 8.0 * 240 * 180 / 1000
    assert (recorded - filtered).mean() > 0.5 * floor_khz


def test_compare_filters_has_auto_above_the_filters(run):
    scope, _ = run("compare_filters")
    truth = scope["window"].signal
    auc = {name: rank_auc(score, truth) for name, (_, score) in scope["labels"].items()}
    assert max(auc, key=auc.get) == "auto"
    assert auc["baf"] < auc["stcf"] < auc["auto"]


def test_many_motions_finds_three_and_one_says_that_it_is_not_enough(run):
    scope, printed = run("many_motions")
    found = sorted(layer.velocity.round(-1).tolist() for layer in scope["many"].layers)
    assert found == [[-260.0, 90.0], [-80.0, 40.0], [300.0, 60.0]]
    assert scope["many"].reliable
    assert [doubt.code for doubt in scope["one"].doubts] == ["several_motions"]
    assert printed.count("px") == 6


def test_objects_keep_their_numbers(run):
    scope, _ = run("objects")
    paths = scope["paths"].values()
    assert [len(path) for path in paths] == [8, 8]
    assert sorted(np.sign(path[-1][2]) for path in paths) == [-1, 1]
    for path in paths:
        assert np.abs(np.array(path)[:, 2]) == pytest.approx(220, abs=25)


def test_gyroscope_shows_its_bias(run):
    scope, _ = run("gyroscope")
    difference = scope["gyro"] - scope["found"]
    assert difference.mean(axis=0) == pytest.approx([0.0, 0.05, 0.0], abs=0.015)
    assert (difference.std(axis=0) < 0.05).all()


def test_gyroscope_takes_a_recording(run, data_dir, tmp_path):
    recording = data_dir / "aedat2" / "davis240c_IMU_rotDisk.aedat"
    if not recording.exists():
        pytest.skip("davis240c_IMU_rotDisk.aedat is not among the real recordings")
    (tmp_path / "calib.txt").write_text("200 200 119.5 89.5\n")
    scope, _ = run("gyroscope", recording, tmp_path / "calib.txt")
    found, gyro = scope["found"][:, 2], scope["gyro"][:, 2]  # wz is minus gyro z in this format
    assert np.corrcoef(found, -gyro)[0, 1] > 0.8


def test_gyroscope_refuses_a_recording_without_imu(run, tmp_path):
    evcrisp.write(tmp_path / "a.npz", evcrisp.simulate(duration_us=5_000, seed=1).events)
    (tmp_path / "calib.txt").write_text("200 200 119.5 89.5\n")
    with pytest.raises(SystemExit, match="has no IMU"):
        run("gyroscope", tmp_path / "a.npz", tmp_path / "calib.txt")


def test_pareto_trades_signal_for_noise(run):
    scope, _ = run("pareto")
    assert 0 < scope["front"].regret_index < len(scope["front"]) - 1
    assert scope["kept"][0] > 0.95
    chosen = scope["front"].regret_index
    assert scope["removed"][chosen] > scope["removed"][0] + 0.05
    assert scope["kept"][chosen] > 0.95
    assert scope["kept"][-1] < 0.5


def test_own_filter_is_better_than_baf(run):
    scope, _ = run("own_filter")
    truth = scope["scene"].events.signal
    auc = {name: rank_auc(score, truth) for name, score in scope["scores"].items()}
    assert auc["same polarity"] > auc["baf"] + 0.02


def test_own_estimator_has_the_stated_error(run):
    scope, _ = run("own_estimator")
    own, auto = scope["errors"].values()
    assert max(own) < 34
    assert all(a < b for a, b in zip(auto[1:], own[1:], strict=True))


def test_flow_is_near_the_truth(run):
    _, printed = run("flow")
    flow, one = (numbers(line)[0] for line in printed.splitlines())
    assert flow < 1.5 < 5 < one


def test_cluster_keeps_the_same_signal_at_all_noise_rates(run):
    pytest.importorskip("distributed", reason="distributed is not installed")
    rows = run("cluster")[0]["rows"]
    events, kept = (np.array([row[key] for row in rows]) for key in ("n_events", "n_kept"))
    assert (np.diff(events) > 5_000).all()
    assert kept == pytest.approx(kept[0], rel=0.06)


def test_reliability_has_a_doubt_for_each_bad_window(run):
    results = run("reliability")[0]["results"]
    doubts = {name: [doubt.code for doubt in result.doubts] for name, result in results.items()}
    assert doubts == {
        "texture": [],
        "one edge": ["aperture"],
        "two motions": ["several_motions"],
        "noise alone": ["chance"],
    }


def test_windows_are_short_where_the_image_is_fast(run):
    scope, _ = run("windows")
    lengths, speeds, good = scope["length_ms"], np.abs(scope["true"]), scope["good"]
    assert good.mean() > 0.9
    # Where the image turns around, the velocity over a window is not its speed.
    assert np.corrcoef(np.log(lengths[good]), np.log(speeds[good]))[0, 1] < -0.95
    assert lengths[~good].min() >= lengths[good].max()
    assert np.abs(scope["found"] - scope["true"])[good].max() < 40


def test_part_of_a_sensor_has_the_labels_of_its_crop(run):
    scope, printed = run("part_of_a_sensor")
    assert scope["area"].box == (330, 60, 200, 150)
    whole, crop = (numbers(line)[-2:] for line in printed.splitlines()[-2:])
    assert whole == pytest.approx(crop, abs=0.005)
    assert min(whole) > 0.95


def test_live_cleans_all_events(run):
    scope, printed = run("live")
    clean = evcrisp.read(scope["folder"] / "clean.aedat4")
    kept, every = (
        sum(len(events) for events in column)
        for column in zip(*((part.kept, part.events) for part in scope["parts"]), strict=True)
    )
    assert (len(clean), every) == (kept, len(scope["scene"].events))
    assert f"kept {kept:,}" in printed
    velocity = np.median([part.estimate.theta[:2] for part in scope["parts"]], axis=0)
    assert velocity == pytest.approx([300, -120], abs=15)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_short_and_tested(name):
    assert len((GALLERY / name).read_text().splitlines()) < MAX_LINES
    assert f'run("{name[3:-3]}"' in Path(__file__).read_text()
