"""Tasks are run once; results and failures are stored."""

import json
import os
import signal
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

import pytest

from evcrisp import ConfigError, OutputError
from evcrisp.experiments.datasets import Clip, find_clips
from evcrisp.experiments.methods import RAW, TABLE1, select_methods
from evcrisp.experiments.protocols import LABEL_SETTINGS, measure_structure
from evcrisp.experiments.store import ResultStore
from evcrisp.experiments.task_runner import Task, measure_pause, run_tasks
from evcrisp.pipeline.many.executors import InProcess, open_workers
from evcrisp.pipeline.many.task_loop import MAX_ATTEMPTS


def pauses(folder, n):
    path = folder / "input.bin"
    path.write_bytes(b"anything")
    clip = Clip(name="night/clip", path=path, group=(), files=(path,))
    return [
        Task(protocol=measure_pause, clip=clip, method=RAW, settings={"pause_s": 0.0, "number": i})
        for i in range(n)
    ]


def broken(clip, method, settings):
    raise ValueError("the sun is too bright")


def test_results_keep_task_order_and_are_reused(tmp_path):
    tasks, store = pauses(tmp_path, 5), ResultStore(tmp_path)
    first = run_tasks(tasks, store, InProcess())
    assert [numbers["number"] for numbers in first.numbers()] == [0, 1, 2, 3, 4]
    assert first.n_new == 5
    again = run_tasks(tasks[::-1], ResultStore(tmp_path), InProcess())
    assert [numbers["number"] for numbers in again.numbers()] == [4, 3, 2, 1, 0]
    assert again.n_new == 0


def test_key_depends_on_input_settings_method_and_version(tmp_path, monkeypatch):
    (task,) = pauses(tmp_path, 1)
    keys = {task.key("input"), task.key("other input")}
    keys.add(replace(task, settings={"pause_s": 0.0, "number": 9}).key("input"))
    keys.add(replace(task, method=TABLE1[1]).key("input"))
    keys.add(replace(task, method=TABLE1[1].tuned("BAF", "baf", {"tau_us": 123})).key("input"))
    monkeypatch.setattr("evcrisp.__version__", "99")
    keys.add(task.key("input"))
    assert len(keys) == 6


def test_key_does_not_depend_on_path(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (here,), (there,) = pauses(tmp_path / "a", 1), pauses(tmp_path / "b", 1)
    store = ResultStore(tmp_path)
    run_tasks([here], store, InProcess())
    assert run_tasks([there], store, InProcess()).n_new == 0


def test_changed_input_is_computed_again(tmp_path):
    tasks, store = pauses(tmp_path, 1), ResultStore(tmp_path)
    run_tasks(tasks, store, InProcess())
    tasks[0].clip.path.write_bytes(b"something else")
    assert run_tasks(tasks, ResultStore(tmp_path), InProcess()).n_new == 1


def test_failure_is_stored_until_retry(tmp_path, caplog):
    good, bad = pauses(tmp_path, 2)
    bad = replace(bad, protocol=broken)
    store = ResultStore(tmp_path)
    first = run_tasks([good, bad], store, InProcess())
    reason = "night/clip with raw: ValueError: the sun is too bright"
    assert first.failures == [reason]
    assert store.log.read_text() == reason + "\n"
    assert first.results[0] is not None
    assert first.results[1] is None
    skipped = run_tasks([good, bad], store, InProcess())
    assert (skipped.n_new, skipped.failures) == (0, [reason])
    retried = run_tasks([good, bad], store, InProcess(), retry_failed=True)
    assert (retried.n_new, retried.failures) == (1, [reason])
    assert store.log.read_text() == 2 * (reason + "\n")


def test_successful_retry_removes_failure(tmp_path):
    (task,) = pauses(tmp_path, 1)
    store = ResultStore(tmp_path)
    key = task.key(store.digest(task.clip.files))
    store.fail(key, task.name, "out of memory\non a bad day")
    assert store.log.read_text() == "night/clip with raw: out of memory on a bad day\n"
    outcome = run_tasks([task], store, InProcess(), retry_failed=True)
    assert outcome.failures == []
    assert store.failure(key) is None


def test_damaged_result_is_computed_again(tmp_path):
    tasks, store = pauses(tmp_path, 1), ResultStore(tmp_path)
    run_tasks(tasks, store, InProcess())
    (path,) = (tmp_path / "results").glob("*.json")
    path.write_text(path.read_text()[:10])
    outcome = run_tasks(tasks, store, InProcess())
    assert outcome.n_new == 1
    assert json.loads(path.read_text())["numbers"] == {"number": 0}


def test_results_of_workers_with_other_code_are_logged(tmp_path, caplog):
    tasks, store = pauses(tmp_path, 2), ResultStore(tmp_path)
    run_tasks(tasks, store, InProcess())
    assert "other code" not in caplog.text
    for path in (tmp_path / "results").glob("*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "source": "older"}))
    assert run_tasks(tasks, store, InProcess()).n_new == 0
    assert "2 of 2 results were computed by workers with other code" in caplog.text


def test_changed_sources_of_evcrisp_are_computed_again(tmp_path, monkeypatch):
    tasks, store = pauses(tmp_path, 2), ResultStore(tmp_path)
    run_tasks(tasks, store, InProcess())
    monkeypatch.setattr("evcrisp.experiments.task_runner.source_digest", lambda: "changed")
    assert run_tasks(tasks, store, InProcess()).n_new == 2


class Dying(InProcess):
    """Workers whose process dies with a certain task."""

    in_flight = 4

    def __init__(self, victim):
        self.victim = victim
        self.restarts = 0

    def submit(self, fn, /, *args, **kwargs):
        if args[0].settings["number"] != self.victim:
            return super().submit(fn, *args, **kwargs)
        future = Future()
        future.set_exception(BrokenProcessPool("a process died"))
        return future

    def restart(self):
        self.restarts += 1


def test_task_that_kills_its_process_fails_alone(tmp_path):
    workers = Dying(victim=2)
    outcome = run_tasks(pauses(tmp_path, 6), ResultStore(tmp_path), workers)
    assert [result is None for result in outcome.results] == [i == 2 for i in range(6)]
    assert "the process that ran it died each time" in outcome.failures[0]
    assert workers.restarts == MAX_ATTEMPTS


def test_lost_scheduler_raises_and_keeps_results(tmp_path):
    class Lost(InProcess):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            if args[0].settings["number"] == 3:
                future = Future()
                future.cancel()
                future.set_running_or_notify_cancel()
            return future

    tasks, store = pauses(tmp_path, 6), ResultStore(tmp_path)
    with pytest.raises(
        OutputError, match="scheduler of the cluster has stopped.*again to continue"
    ):
        run_tasks(tasks, store, Lost())
    assert run_tasks(tasks, store, InProcess()).n_new == 3


def test_processes_give_same_results_after_kill(emlb, tmp_path):
    tasks = [
        Task(
            protocol=measure_structure,
            clip=clip,
            method=method,
            settings={"slice_events": 3000, "seed": 0, "max_events": None, **LABEL_SETTINGS},
        )
        for clip in find_clips("emlb", emlb)
        for method in select_methods(TABLE1, ["raw", "baf"])
    ]
    n_done = 0
    with open_workers(2) as workers:

        def kill_one(task):
            nonlocal n_done
            n_done += 1
            if n_done == 6:
                pid = next(iter(workers.executor()._processes))
                os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))

        (tmp_path / "a").mkdir()
        many = run_tasks(tasks, ResultStore(tmp_path / "a"), workers, on_done=kill_one)
    (tmp_path / "b").mkdir()
    one = run_tasks(tasks, ResultStore(tmp_path / "b"), InProcess())
    assert many.failures == []
    assert many.numbers() == one.numbers()


def test_negative_number_of_workers_raises():
    with (
        pytest.raises(ConfigError, match="`n_workers` must be a whole number, 0 or more; got -1"),
        open_workers(-1),
    ):
        pass


@pytest.mark.parametrize("address", ["nonsense", "tcp://host", "host:port", ""])
def test_malformed_scheduler_address_raises(address):
    with (
        pytest.raises(
            ConfigError, match="`scheduler` must be an address such as tcp://host:8786; got"
        ),
        open_workers(1, address),
    ):
        pytest.fail("a client was created")


def test_interrupt_terminates_running_tasks():
    with pytest.raises(KeyboardInterrupt), open_workers(1) as workers:
        future = workers.executor().submit(time.sleep, 3600)
        while not future.running():
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert future.done()
