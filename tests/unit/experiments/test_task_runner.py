"""Tasks run once, results stay, failures are kept with their names."""

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
from evcrisp.experiments.executors import Here, open_pool
from evcrisp.experiments.methods import RAW, TABLE1, chosen
from evcrisp.experiments.overhead import measure_pause
from evcrisp.experiments.protocols import LABELING, measure_structure
from evcrisp.experiments.store import ResultStore
from evcrisp.experiments.task_runner import MAX_ATTEMPTS, run_tasks
from evcrisp.experiments.tasks import Task


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


def test_results_come_in_the_order_of_the_tasks_and_only_once(tmp_path):
    tasks, store = pauses(tmp_path, 5), ResultStore(tmp_path)
    first = run_tasks(tasks, store, Here())
    assert [numbers["number"] for numbers in first.numbers()] == [0, 1, 2, 3, 4]
    assert first.n_new == 5
    again = run_tasks(tasks[::-1], ResultStore(tmp_path), Here())
    assert [numbers["number"] for numbers in again.numbers()] == [4, 3, 2, 1, 0]
    assert again.n_new == 0


def test_a_result_belongs_to_input_settings_method_and_version(tmp_path, monkeypatch):
    (task,) = pauses(tmp_path, 1)
    keys = {task.key("input"), task.key("other input")}
    keys.add(replace(task, settings={"pause_s": 0.0, "number": 9}).key("input"))
    keys.add(replace(task, method=TABLE1[1]).key("input"))
    keys.add(replace(task, method=TABLE1[1].tuned("BAF", "baf", {"tau_us": 123})).key("input"))
    monkeypatch.setattr("evcrisp.__version__", "99")
    keys.add(task.key("input"))
    assert len(keys) == 6


def test_where_a_recording_lies_does_not_matter(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (here,), (there,) = pauses(tmp_path / "a", 1), pauses(tmp_path / "b", 1)
    store = ResultStore(tmp_path)
    run_tasks([here], store, Here())
    assert run_tasks([there], store, Here()).n_new == 0


def test_a_changed_input_is_run_again(tmp_path):
    tasks, store = pauses(tmp_path, 1), ResultStore(tmp_path)
    run_tasks(tasks, store, Here())
    tasks[0].clip.path.write_bytes(b"something else")
    assert run_tasks(tasks, ResultStore(tmp_path), Here()).n_new == 1


def test_a_failure_is_kept_with_its_recording_until_it_is_retried(tmp_path, caplog):
    good, bad = pauses(tmp_path, 2)
    bad = replace(bad, protocol=broken)
    store = ResultStore(tmp_path)
    first = run_tasks([good, bad], store, Here())
    reason = "night/clip with raw: ValueError: the sun is too bright"
    assert first.failures == [reason]
    assert store.log.read_text() == reason + "\n"
    assert first.results[0] is not None
    assert first.results[1] is None
    skipped = run_tasks([good, bad], store, Here())
    assert (skipped.n_new, skipped.failures) == (0, [reason])
    retried = run_tasks([good, bad], store, Here(), retry_failed=True)
    assert (retried.n_new, retried.failures) == (1, [reason])
    assert store.log.read_text() == 2 * (reason + "\n")


def test_a_retry_that_succeeds_ends_the_failure(tmp_path):
    (task,) = pauses(tmp_path, 1)
    store = ResultStore(tmp_path)
    key = task.key(store.digest(task.clip.files))
    store.fail(key, task.name, "out of memory\non a bad day")
    assert store.log.read_text() == "night/clip with raw: out of memory on a bad day\n"
    outcome = run_tasks([task], store, Here(), retry_failed=True)
    assert outcome.failures == []
    assert store.failure(key) is None


def test_a_damaged_result_is_made_anew(tmp_path):
    tasks, store = pauses(tmp_path, 1), ResultStore(tmp_path)
    run_tasks(tasks, store, Here())
    (path,) = (tmp_path / "results").glob("*.json")
    path.write_text(path.read_text()[:10])
    outcome = run_tasks(tasks, store, Here())
    assert outcome.n_new == 1
    assert json.loads(path.read_text())["numbers"] == {"number": 0}


def test_results_of_another_state_of_the_program_are_said(tmp_path, monkeypatch, caplog):
    tasks, store = pauses(tmp_path, 2), ResultStore(tmp_path)
    run_tasks(tasks, store, Here())
    assert "another state" not in caplog.text
    monkeypatch.setattr("evcrisp.experiments.task_runner.source_digest", lambda: "changed")
    assert run_tasks(tasks, store, Here()).n_new == 0
    assert "2 of 2 results came from another state of evcrisp" in caplog.text


class Dying(Here):
    """A pool whose process dies whenever it gets a certain task."""

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


def test_a_task_that_kills_its_process_does_not_take_others_along(tmp_path):
    pool = Dying(victim=2)
    outcome = run_tasks(pauses(tmp_path, 6), ResultStore(tmp_path), pool)
    assert [result is None for result in outcome.results] == [i == 2 for i in range(6)]
    assert "the process that ran it died each time" in outcome.failures[0]
    assert pool.restarts == MAX_ATTEMPTS


def test_a_lost_scheduler_ends_the_run_and_keeps_the_results(tmp_path):
    class Lost(Here):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            if args[0].settings["number"] == 3:
                future = Future()
                future.cancel()
                future.set_running_or_notify_cancel()
            return future

    tasks, store = pauses(tmp_path, 6), ResultStore(tmp_path)
    with pytest.raises(OutputError, match="scheduler of the cluster is gone.*again to go on"):
        run_tasks(tasks, store, Lost())
    assert run_tasks(tasks, store, Here()).n_new == 3


def test_processes_give_what_one_process_gives_though_one_is_killed(emlb, tmp_path):
    tasks = [
        Task(
            protocol=measure_structure,
            clip=clip,
            method=method,
            settings={"slice_events": 3000, "seed": 0, "max_events": None, **LABELING},
        )
        for clip in find_clips("emlb", emlb)
        for method in chosen(TABLE1, ["raw", "baf"])
    ]
    n_done = 0
    with open_pool(2) as pool:

        def kill_one(task):
            nonlocal n_done
            n_done += 1
            if n_done == 6:
                pid = next(iter(pool.executor()._processes))
                os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))

        (tmp_path / "a").mkdir()
        many = run_tasks(tasks, ResultStore(tmp_path / "a"), pool, on_done=kill_one)
    (tmp_path / "b").mkdir()
    one = run_tasks(tasks, ResultStore(tmp_path / "b"), Here())
    assert many.failures == []
    assert many.numbers() == one.numbers()


def test_a_pool_of_less_than_nothing_is_refused():
    with pytest.raises(ConfigError, match="must be 0 or more; got -1"), open_pool(-1):
        pass


@pytest.mark.parametrize("address", ["nonsense", "tcp://host", "host:port", ""])
def test_an_address_that_cannot_be_is_refused_at_once(address):
    with (
        pytest.raises(ConfigError, match="A scheduler's address is like tcp://host:8786; got"),
        open_pool(1, address),
    ):
        pytest.fail("a client was made")


def test_an_interrupted_run_does_not_wait_for_tasks_on_their_way():
    with pytest.raises(KeyboardInterrupt), open_pool(1) as pool:
        future = pool.executor().submit(time.sleep, 3600)
        while not future.running():
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert future.done()
