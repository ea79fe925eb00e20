"""Benchmark of many motions, run small: figures of known scenes, and parts that are left out."""

import json

from benchmarks.quality import many_motions, one_motion
from benchmarks.speed import many_motions as speed


def test_a_scene_is_measured_and_written(tmp_path):
    path = tmp_path / "found.json"
    name = "two objects opposite, still"
    arguments = ["scenes", "--only", name, "--repeats", "1", "--data", str(tmp_path)]
    many_motions.main([*arguments, "-o", str(path)])
    results = json.loads(path.read_text())["results"]["scenes"]
    row = results["scenes"][name]
    assert row["n_true_layers"] == 2
    methods = row["methods"]
    assert set(methods) == {
        "auto", "auto, tracked", "auto, one motion", "stcf", "ebf", "pugm",
    }  # fmt: skip
    assert methods["auto"]["auc"] > methods["auto, one motion"]["auc"]
    assert methods["auto"]["error_px"] < methods["auto, one motion"]["error_px"]
    assert methods["auto, one motion"]["layers"] == 1
    assert methods["auto"]["repeatable"]
    assert results["summary"]["auto"]["auc"]["mean"] == methods["auto"]["auc"]
    assert all(target.keys() >= {"name", "value", "holds"} for target in results["targets"])


def test_parts_without_recordings_are_left_out(tmp_path, capsys):
    arguments = ["inbound", "cradle", "--data", str(tmp_path)]
    assert many_motions.main(arguments) == {"inbound": {}, "cradle": {}}
    assert capsys.readouterr().err.count("left out") == 2


def test_one_motion_is_compared_with_the_given_model(tmp_path):
    found = one_motion.measure(tmp_path, n_scenes=1, levels=(5.0,))
    (row,) = found["simulated"]
    assert row["scene"] == "00 translation, shapes"
    assert row["model"] == row["found"] == "translation"
    assert found["share_with_one_motion"] == 1.0
    assert row["auto"] == row["given model"]
    assert row["auto"]["error_px"] < 0.1
    assert "real" not in found


def test_times_say_what_was_found(tmp_path):
    path = tmp_path / "speed.json"
    results = speed.main(["one", "--repeats", "1", "-o", str(path)])
    row = results["1 motion"]
    assert row["layers"] == 1.0
    assert 20_000 < row["n_events"] < 50_000
    assert set(row["ms"]) == {"auto", "one translation"}
    assert json.loads(path.read_text())["results"] == results
