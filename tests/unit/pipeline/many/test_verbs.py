"""Convert, filter, evaluate and flow over many recordings: the results of one by one, and failures."""

import json
import shutil

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, UnknownNameError
from evcrisp.pipeline.many.finished import JOURNAL

VERBS = {
    "convert": (evcrisp.convert_many, {"to": "npz", "start_at_zero": True}),
    "filter": (evcrisp.filter_many, {"method": "stcf", "labels": True}),
    "evaluate": (evcrisp.evaluate_many, {"measures_aocc": False, "slice_events": 1000}),
    "flow": (evcrisp.flow_many, {"method": "baf+cmax", "motion": "translation"}),
}


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != JOURNAL)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(params=VERBS)
def verb(request):
    return VERBS[request.param]


def test_bytes_are_the_same_for_processes_and_kept_by_the_next_call(scenes, tmp_path, verb):
    function, settings = verb
    for jobs in (0, 2):
        result = function([scenes], tmp_path / str(jobs), jobs=jobs, **settings)
        assert (sorted(result.outputs), result.failures) == (["scene1", "scene2", "scene3"], {})
    assert contents(tmp_path / "0") == contents(tmp_path / "2")
    again = function([scenes], tmp_path / "2", jobs=0, **settings)
    assert len(again.reused) == 3
    assert again.summary == result.summary


def test_failures_do_not_stop_the_others(scenes, tmp_path, verb):
    function, settings = verb
    shutil.copytree(scenes, tmp_path / "data")
    whole = (tmp_path / "data" / "scene1.aedat4").read_bytes()
    (tmp_path / "data" / "cut.aedat4").write_bytes(whole[: len(whole) // 2])
    result = function([tmp_path / "data"], tmp_path / "out", jobs=0, **settings)
    assert sorted(result.outputs) == ["scene1", "scene2", "scene3"]
    assert set(result.failures) == {"cut"}
    assert not any((tmp_path / "out").rglob(".part-*"))
    assert not (tmp_path / "out" / "cut").exists()  # a folder without results


def test_outputs_are_those_of_one_recording(scenes, tmp_path):
    source = scenes / "scene1.aedat4"
    for name, (function, settings) in VERBS.items():
        function([source], tmp_path / name, jobs=0, **settings)
    converted = evcrisp.read(tmp_path / "convert" / "scene1.npz")
    np.testing.assert_array_equal(converted.t, evcrisp.read(source).t - evcrisp.read(source).t[0])
    one = evcrisp.filter_recording(
        source, tmp_path / "scene1.aedat4", "stcf", labels=tmp_path / "labels.npz"
    )
    for path in (one.path, one.labels):
        assert (tmp_path / "filter" / "scene1" / path.name).read_bytes() == path.read_bytes()
    found = json.loads((tmp_path / "evaluate" / "scene1.measures.json").read_text())
    expected = evcrisp.evaluate(source, measures_aocc=False, slice_events=1000).quality["recording"]
    assert found["quality"]["recording"]["esr"] == expected.as_dict()["esr"]
    evcrisp.write_flow_files(source, tmp_path / "one", method="baf+cmax", motion="translation")
    assert contents(tmp_path / "flow" / "scene1") == contents(tmp_path / "one")


def test_recording_named_as_the_summary_does_not_replace_it(scenes, tmp_path):
    shutil.copy(scenes / "scene1.aedat4", tmp_path / "summary.aedat4")
    for name, (function, settings) in VERBS.items():
        result = function([tmp_path / "summary.aedat4"], tmp_path / name, jobs=0, **settings)
        summary = json.loads((tmp_path / name / "summary.json").read_text())
        assert (result.failures, summary["n_recordings"]) == ({}, 1)


@pytest.mark.parametrize(
    ("name", "wrong", "error"),
    [
        ("convert", {"to": "nothing"}, UnknownNameError),
        ("filter", {"method": "nothing"}, UnknownNameError),
        ("filter", {"method": "baf", "params": {"nothing": 1}}, ConfigError),
        ("flow", {"motion": "nothing"}, UnknownNameError),
        ("flow", {"format": "nothing"}, UnknownNameError),
        ("evaluate", {"jobs": -1}, ConfigError),
    ],
)
def test_wrong_settings_raise_before_anything_is_read(scenes, tmp_path, name, wrong, error):
    with pytest.raises(error):
        VERBS[name][0]([scenes], tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()
