"""Processes of a pool: how they end."""

import atexit

from evcrisp.pipeline.many.executors import open_workers


def test_processes_run_their_exit_functions(tmp_path):
    with open_workers(1) as workers:
        executor = workers.executor()
        executor.submit(atexit.register, (tmp_path / "ended").touch).result()
        (process,) = executor._processes.values()
    assert (tmp_path / "ended").exists()
    assert process.exitcode == 0
