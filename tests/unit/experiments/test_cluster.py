"""A real cluster of two worker processes, one of which is killed."""

import os
import signal

import pytest

from evcrisp import ConfigError
from evcrisp.experiments.reproduction import reproduce
from evcrisp.experiments.tables import Options
from evcrisp.pipeline.many.executors import InProcess, open_workers

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")

METHODS = ("raw", "baf", "ynoise", "ts", "auto")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


def texts(part):
    return {path.name: path.read_bytes() for path in part.files}


def test_killed_worker_does_not_change_tables(cluster, emlb, tmp_path):
    n_done, killed = 0, []

    def kill_one(task):
        nonlocal n_done
        n_done += 1
        if n_done == 16:
            killed.append(next(iter(cluster.workers.values())).process.pid)
            os.kill(killed[0], getattr(signal, "SIGKILL", signal.SIGTERM))

    (tmp_path / "cluster").mkdir()
    (tmp_path / "here").mkdir()
    options = Options(methods=METHODS)
    with open_workers(2, cluster.scheduler_address) as workers:
        many = reproduce(
            "table1", tmp_path / "cluster", workers, root=emlb, options=options, on_done=kill_one
        )
    one = reproduce("table1", tmp_path / "here", InProcess(), root=emlb, options=options)
    assert killed
    assert many.outcome.failures == []
    assert many.outcome.n_new == 40
    assert texts(many) == texts(one)


def test_missing_resource_raises(cluster, emlb, tmp_path):
    options = Options(methods=("raw",), gpu_methods=("raw",))
    with (
        open_workers(1, cluster.scheduler_address) as workers,
        pytest.raises(ConfigError, match='No worker .* "GPU=1"|No worker .*GPU'),
    ):
        reproduce("table1", tmp_path, workers, root=emlb, options=options)


def test_tasks_run_on_workers_with_their_resource(emlb, tmp_path):
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            resources={"GPU": 1},
        ) as cluster,
        open_workers(1, cluster.scheduler_address) as workers,
    ):
        options = Options(methods=("raw", "baf"), gpu_methods=("baf",))
        part = reproduce("table1", tmp_path, workers, root=emlb, options=options)
    assert part.outcome.failures == []
    assert {task.method.resource for task in part.tasks} == {None, "GPU"}


def test_unreachable_scheduler_raises(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", refuse)
    with (
        pytest.raises(ConfigError, match="no scheduler at 'tcp://localhost:1': timed out"),
        open_workers(1, "tcp://localhost:1"),
    ):
        pass
