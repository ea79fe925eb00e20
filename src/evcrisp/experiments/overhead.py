"""What it costs to hand tasks out: pauses of known length, and the time that all of them took."""

import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.executors import Pool
from evcrisp.experiments.methods import ZERO, Method
from evcrisp.experiments.store import ResultStore
from evcrisp.experiments.task_runner import run_tasks
from evcrisp.experiments.tasks import Task


def measure_pause(clip: Clip, method: Method, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Do nothing for ``pause_s``, as if it were work."""
    time.sleep(settings["pause_s"])
    return {"number": settings["number"]}


def overhead(pool: Pool, n_workers: int, *, pause_s: float = 1.0, rounds: int = 4) -> float:
    """Return the share by which tasks took longer than their work alone, results on disk included.

    The processes are warm: a task for each has run before.

    Parameters
    ----------
    pool : Pool
        Where to run.
    n_workers : int
        How many tasks run side by side.
    pause_s : float, s
        Work of a task.
    rounds : int
        Tasks per worker.
    """
    with TemporaryDirectory() as folder:
        store = ResultStore(Path(folder))
        run_tasks(_pauses(Path(folder), 2 * n_workers, 0.2, 0), store, pool)
        start = time.perf_counter()
        outcome = run_tasks(_pauses(Path(folder), rounds * n_workers, pause_s, 1), store, pool)
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
