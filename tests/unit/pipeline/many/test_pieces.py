"""One recording in pieces: the same bytes for any number of workers, formats and interruptions."""

import json
from dataclasses import replace

import pytest

import evcrisp
from evcrisp import Windowing
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.pipeline.many.batch import Batch
from evcrisp.pipeline.many.finished import JOURNAL
from evcrisp.pipeline.many.run_many import _totals
from evcrisp.pipeline.many.run_task import RunTask
from evcrisp.pipeline.many.splitting import SCRATCH, split_run
from evcrisp.pipeline.pieces.plan import PieceSizes
from evcrisp.pipeline.run_outputs import RunSettings

SIZES = PieceSizes(piece=4096, rest=512, warm=2048, estimated=1024)


@pytest.fixture(scope="module")
def long_scene():
    """Return a scene with several pieces of these sizes."""
    return evcrisp.simulate(
        resolution=(80, 60), theta=(200.0, 80.0), duration_us=400_000, noise_hz=5.0, seed=4
    )


@pytest.fixture(scope="module")
def recording(long_scene, tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.aedat4"
    evcrisp.write(path, long_scene.events.with_signal(None), imu=long_scene.imu)
    return path


def task_of(method="baf+cmax", motion="translation", windowing=None, **opening):
    settings = RunSettings(
        method=ESTIMATORS[method](), motion=motion, camera=None,
        windowing=windowing or Windowing(), sizes=SIZES,
    )  # fmt: skip
    return RunTask(settings, opening)


def process(path, folder, task, jobs, **more):
    """Process one recording; return the result, and the shares that pieces reported."""
    shares = []
    batch = Batch(jobs=jobs, on_piece=lambda name, share: shares.append(share), **more)
    return batch.process([path], folder, task, _totals, split_run), shares


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != JOURNAL)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


WINDOWINGS = {
    "chosen": Windowing(),
    "overlapping": Windowing(overlap=0.5),
    "time": Windowing(window_us=17_000),
    "overlapping time": Windowing(window_us=20_000, overlap=0.5),
    "count": Windowing(window_events=3000),
    "displacement": Windowing(displacement_px=4.0),
}


QUICK = ("chosen", "overlapping time")


@pytest.mark.parametrize(
    "windowing",
    [
        pytest.param(windowing, id=name, marks=() if name in QUICK else pytest.mark.slow)
        for name, windowing in WINDOWINGS.items()
    ],
)
def test_results_do_not_depend_on_the_number_of_workers(recording, tmp_path, windowing):
    task = task_of(windowing=windowing)
    one, shares_of_one = process(recording, tmp_path / "0", task, 0)
    two, shares = process(recording, tmp_path / "2", task, 2)
    assert one.failures == two.failures == {}
    assert shares_of_one == []
    assert shares[-1] == 1.0  # pieces were joined
    assert contents(tmp_path / "0") == contents(tmp_path / "2")
    summary = json.loads((tmp_path / "2" / "long" / "summary.json").read_text())
    assert summary["n_pieces"] == len(shares) - 1 > 2


@pytest.mark.slow
def test_default_method_has_the_same_bytes_with_three_workers_and_one(recording, tmp_path):
    task = task_of("auto", "auto")
    for jobs in (0, 1, 3):
        result, _ = process(recording, tmp_path / str(jobs), task, jobs)
        assert result.failures == {}
    assert contents(tmp_path / "0") == contents(tmp_path / "1") == contents(tmp_path / "3")


@pytest.mark.parametrize("name", ["long.npz", pytest.param("long.raw", marks=pytest.mark.slow)])
def test_formats_without_an_index_have_the_same_results(long_scene, recording, tmp_path, name):
    events = long_scene.events if name.endswith("npz") else long_scene.events.with_signal(None)
    evcrisp.write(tmp_path / name, events)
    task = task_of(resolution=(80, 60))
    for jobs in (0, 2):
        result, shares = process(tmp_path / name, tmp_path / str(jobs), task, jobs)
        assert result.failures == {}
        assert bool(shares) == (jobs == 2)
    assert contents(tmp_path / "0") == contents(tmp_path / "2")
    process(recording, tmp_path / "aedat4", task_of(), 2)
    for table in ("motion.csv", "layers.csv", "labels.npz"):
        expected = (tmp_path / "aedat4" / "long" / table).read_bytes()
        assert (tmp_path / "2" / "long" / table).read_bytes() == expected


@pytest.mark.parametrize("on_error", ["raise", "truncate"])
def test_damage_is_reported_as_that_of_the_whole(recording, tmp_path, on_error):
    data = bytearray(recording.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    path = tmp_path / "damaged.aedat4"
    path.write_bytes(data)
    task = task_of(on_error=on_error)
    (one, _), (two, _) = (process(path, tmp_path / str(n), task, n) for n in (0, 2))
    assert one.summary == two.summary
    assert contents(tmp_path / "0") == contents(tmp_path / "2")
    assert bool(two.failures) == (on_error == "raise")


def test_finished_pieces_are_not_computed_again(recording, tmp_path):
    task, folder = task_of(), tmp_path / "out"

    def stop(name, share):
        if share >= 0.5:
            raise KeyboardInterrupt

    batch = Batch(jobs=2, on_piece=stop)
    with pytest.raises(KeyboardInterrupt):
        batch.process([recording], folder, task, _totals, split_run)
    names = {path.name for path in (folder / "long").iterdir()}
    assert names == {SCRATCH}
    kept = sorted((folder / "long" / SCRATCH).glob("piece-*/piece.json"))
    times = [path.stat().st_mtime_ns for path in kept]
    assert kept
    seen = []

    def look(name, share):
        seen.append([path.stat().st_mtime_ns for path in kept])

    batch = Batch(jobs=2, on_piece=look)
    result = batch.process([recording], folder, task, _totals, split_run)
    assert result.failures == {}
    assert all(now == times for now in seen)
    process(recording, tmp_path / "whole", task, 0)
    assert contents(folder) == contents(tmp_path / "whole")


def test_pieces_of_other_settings_are_not_used(recording, tmp_path):
    def stop(name, share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Batch(jobs=2, on_piece=lambda n, share: share > 0.3 and stop(n, share)).process(
            [recording], tmp_path / "out", task_of(), _totals, split_run
        )
    other = task_of(windowing=Windowing(window_us=11_000))
    result, _ = process(recording, tmp_path / "out", other, 2)
    assert result.failures == {}
    process(recording, tmp_path / "whole", other, 0)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_recording_without_several_pieces_has_the_bytes_of_a_run(recording, tmp_path):
    evcrisp.run(recording, tmp_path / "run" / "long", method="baf+cmax", motion="translation")
    task = task_of()
    whole = RunTask(replace(task.run, sizes=PieceSizes()), {})
    result, shares = process(recording, tmp_path / "many", whole, 2)
    assert (result.failures, shares) == ({}, [])
    assert contents(tmp_path / "many" / "long") == contents(tmp_path / "run" / "long")
