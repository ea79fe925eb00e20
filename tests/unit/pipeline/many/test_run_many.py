"""Many recordings side by side: the same bytes as one by one, failures, and continuation."""

import json
import os
import shutil

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, UnknownNameError, Windowing
from evcrisp.pipeline.many.finished import JOURNAL

NAMES = ("scene1", "scene2", "scene3")


def contents(folder):
    """Return the bytes of the files below a folder, without the journal."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != JOURNAL)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_results_have_the_bytes_of_single_runs_for_any_number_of_jobs(scenes, tmp_path):
    results = {n: evcrisp.run_many([scenes], tmp_path / str(n), jobs=n) for n in (0, 1, 2)}
    one = contents(tmp_path / "0")
    assert one == contents(tmp_path / "1") == contents(tmp_path / "2")
    assert all(tuple(result.outputs) == NAMES for result in results.values())
    for name in NAMES:
        evcrisp.run(scenes / f"{name}.aedat4", tmp_path / "single" / name)
    del one["summary.json"]
    assert one == contents(tmp_path / "single")


def test_summary_has_the_sums_of_all_summaries(scenes, tmp_path):
    result = evcrisp.run_many([scenes], tmp_path / "out", jobs=0, motion="translation")
    each = [json.loads((path / "summary.json").read_text()) for path in result.outputs.values()]
    totals = result.summary["totals"]
    for key in ("n_events", "n_kept", "n_windows", "n_reliable"):
        assert totals[key] == sum(one[key] for one in each)
    for key in ("doubts", "statuses"):
        names = {name for one in each for name in one[key]}
        expected = {name: sum(one[key].get(name, 0) for one in each) for name in names}
        assert totals[key] == expected
    assert totals["n_windows"] > 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == result.summary
    assert result.summary["settings"]["motion"] == "translation"


def test_failures_do_not_stop_the_others(scenes, tmp_path):
    shutil.copytree(scenes, tmp_path / "data")
    whole = (tmp_path / "data" / "scene1.aedat4").read_bytes()
    (tmp_path / "data" / "cut.aedat4").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "data" / "empty.raw").write_bytes(b"")
    given = [tmp_path / "data", tmp_path / "data" / "empty.raw"]
    result = evcrisp.run_many(given, tmp_path / "out", jobs=2, method="baf+cmax")
    assert tuple(result.outputs) == NAMES
    assert set(result.failures) == {"cut", "empty"}
    reasons = {failure["name"]: failure["reason"] for failure in result.summary["failures"]}
    assert "but the file ends after" in reasons["cut"]
    assert "the file is empty" in reasons["empty"]
    assert result.summary["n_failed"] == 2
    assert not any((tmp_path / "out").rglob(".part-*"))


def test_complete_results_with_the_same_settings_are_kept(scenes, tmp_path):
    out = tmp_path / "out"
    first = evcrisp.run_many([scenes / "scene1.aedat4"], out, jobs=0, method="baf+cmax")
    before = (out / "scene1" / "summary.json").stat().st_mtime_ns
    second = evcrisp.run_many([scenes], out, jobs=0, method="baf+cmax")
    assert first.reused == ()
    assert second.reused == ("scene1",)
    assert (out / "scene1" / "summary.json").stat().st_mtime_ns == before
    fresh = evcrisp.run_many([scenes], tmp_path / "fresh", jobs=0, method="baf+cmax")
    assert second.summary == fresh.summary
    again = evcrisp.run_many([scenes], out, jobs=0, method="baf+cmax", overwrite=True)
    assert again.reused == ()
    assert (out / "scene1" / "summary.json").stat().st_mtime_ns > before
    assert contents(out) == contents(tmp_path / "fresh")


@pytest.mark.parametrize(
    "changed",
    [
        {"method": "cmax"},
        {"windowing": Windowing(window_us=20_000)},
        {"opening": {"duration_us": 50_000}},
        {"to": "npz"},
        {"motion": "rotation", "camera": evcrisp.Camera.ideal((80, 60))},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_results_of_other_settings_are_not_mixed(scenes, tmp_path, changed):
    settings = {"method": "baf+cmax", "jobs": 0}
    evcrisp.run_many([scenes], tmp_path / "out", **settings)
    before = contents(tmp_path / "out" / "scene1")
    result = evcrisp.run_many([scenes], tmp_path / "out", **{**settings, **changed})
    assert result.reused == ()
    assert set(result.failures) == set(NAMES)
    assert contents(tmp_path / "out" / "scene1") == before


def test_changed_input_and_lost_output_are_not_kept(scenes, tmp_path):
    data, out = tmp_path / "data", tmp_path / "out"
    shutil.copytree(scenes, data)
    evcrisp.run_many([data], out, jobs=0, method="baf+cmax")
    os.utime(data / "scene1.aedat4", ns=(0, 1))
    (out / "scene2" / "labels.npz").unlink()
    with (out / JOURNAL).open("a") as file:
        file.write('{"name": "scene3", "inp')  # a crash while it was written
    result = evcrisp.run_many([data], out, jobs=0, method="baf+cmax", overwrite=False)
    assert result.reused == ("scene3",)
    assert set(result.failures) == {"scene1", "scene2"}


def test_results_of_a_recording_that_was_not_finished_are_replaced(scenes, tmp_path):
    """The program can end after the files of a recording were written, or half of them."""
    out = tmp_path / "out"
    evcrisp.run_many([scenes], out, jobs=0, method="baf+cmax")
    before = contents(out)
    journal = (out / JOURNAL).read_text().splitlines()
    (out / JOURNAL).write_text("\n".join(line for line in journal if '"facts"' not in line))
    (out / "scene1" / "summary.json").unlink()
    (out / "scene1" / ".part-1.csv").touch()  # of a process that was killed
    result = evcrisp.run_many([scenes], out, jobs=0, method="baf+cmax")
    (out / "scene1" / ".part-1.csv").unlink()
    assert len(evcrisp.run_many([scenes], out, jobs=0, method="baf+cmax").reused) == 3
    assert (result.reused, result.failures) == ((), {})
    assert contents(out) == before


def test_folder_of_a_single_run_is_refused(scenes, tmp_path):
    evcrisp.run(scenes / "scene1.aedat4", tmp_path / "out", method="baf+cmax")
    before = contents(tmp_path / "out")
    with pytest.raises(ConfigError, match="holds the results of one recording"):
        evcrisp.run_many([scenes], tmp_path / "out", jobs=0, method="baf+cmax", overwrite=True)
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"method": "nothing"}, UnknownNameError),
        ({"motion": "nothing"}, UnknownNameError),
        ({"to": "nothing"}, UnknownNameError),
        ({"method": "auto", "unknown": 3}, ConfigError),
        ({"jobs": -1}, ConfigError),
        ({"jobs": 1.5}, ConfigError),
        ({"scheduler": "nowhere"}, ConfigError),
    ],
)
def test_wrong_settings_raise_before_anything_is_read(scenes, tmp_path, wrong, error):
    with pytest.raises(error):
        evcrisp.run_many([scenes], tmp_path / "out", **wrong)
    assert not list(tmp_path.rglob("motion.csv"))


def test_method_that_other_processes_cannot_import_is_refused(scenes, tmp_path):
    class Local:
        name = "local"

    with pytest.raises(ConfigError, match="jobs=0"):
        evcrisp.run_many([scenes], tmp_path / "out", method=Local(), jobs=1)


def test_region_shifts_the_camera(scenes, tmp_path):
    camera, roi = evcrisp.Camera.ideal((80, 60)), (10, 5, 60, 50)
    settings = {"method": "baf+cmax", "motion": "rotation"}
    evcrisp.run_many(
        [scenes / "scene1.aedat4"], tmp_path / "many", camera=camera, opening={"roi": roi}, jobs=0,
        **settings,
    )  # fmt: skip
    with evcrisp.open(scenes / "scene1.aedat4", roi=roi) as recording:
        evcrisp.run(recording, tmp_path / "one", camera=camera.cropped(roi), **settings)
    assert contents(tmp_path / "many" / "scene1") == contents(tmp_path / "one")


def test_messages_of_other_processes_are_repeated(make_events, tmp_path, caplog):
    for name in ("a", "b"):
        events = make_events(400, resolution=(80, 60))
        columns = np.column_stack([events.t, events.x, events.y, events.p])
        np.savetxt(tmp_path / f"{name}.csv", columns, fmt="%d", delimiter=",", header="t,x,y,p", comments="")  # fmt: skip
    caplog.set_level("INFO", logger="evcrisp")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    result = evcrisp.run_many(paths, tmp_path / "out", jobs=2, method="baf+cmax")
    assert result.failures == {}
    for path in paths:
        assert any(str(path) in message for message in caplog.messages)
