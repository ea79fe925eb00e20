"""Measure the overhead of scheduling, with tasks that only pause."""

import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.executors import Workers
from evcrisp.experiments.methods import ZERO, Method
from evcrisp.experiments.store import ResultStore
from evcrisp.experiments.task_runner import run_tasks
from evcrisp.experiments.tasks import Task


def measure_pause(clip: Clip, method: Method, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Pause for ``pause_s`` seconds in place of work."""
    time.sleep(settings["pause_s"])
    return {"number": settings["number"]}


def overhead(workers: Workers, n_workers: int, *, pause_s: float = 1.0, rounds: int = 4) -> float:
    """Return the relative overhead of running tasks and storing their results.

    Each of ``n_workers`` workers, which are started before, runs ``rounds`` tasks of ``pause_s``.
    """
    with TemporaryDirectory() as folder:
        store = ResultStore(Path(folder))
        run_tasks(_pauses(Path(folder), 2 * n_workers, 0.2, 0), store, workers)
        start = time.perf_counter()
        outcome = run_tasks(_pauses(Path(folder), rounds * n_workers, pause_s, 1), store, workers)
        elapsed = time.perf_counter() - start
    if outcome.failures:
        raise RuntimeError(outcome.failures[0])
    return elapsed / (rounds * pause_s) - 1.0


def _pauses(folder: Path, n: int, pause_s: float, batch: int) -> list[Task]:
    clip = Clip(name="pause", path=folder, group=(), files=())
    return [
        Task(
            protocol=measure_pause,
            clip=clip,
            method=ZERO,
            settings={"pause_s": pause_s, "number": number, "batch": batch},
        )
        for number in range(n)
    ]
