"""Overhead of the scheduler with many simulated workers, whose tasks sleep. Prints JSON.

Command: ``python -m benchmarks.speed.cluster [--workers 64] [--tasks 640] [--seconds 1.9]``.

A real dask scheduler and real workers, as threads of one process, run tasks through the loop of
`run_many`. A task sleeps as long as a piece of 4 million events takes on one core (``--seconds``, from
``benchmarks.speed.end_to_end``), 20 % more or less. Overhead: the time beyond that of the same tasks, in
the same order, each given at once to the first free worker.
"""

import argparse
import heapq
import os
import time

import numpy as np
from benchmarks.measure import report

from evcrisp.pipeline.many.executors import open_workers
from evcrisp.pipeline.many.task_loop import TaskLoop


def ideal_s(durations, n_workers):
    """Return the time of the tasks without any overhead, s."""
    free_at = [0.0] * n_workers
    for duration in durations:
        heapq.heappush(free_at, heapq.heappop(free_at) + duration)
    return max(free_at)


def fail(key, task, error):
    """Stop at the first failure."""
    raise error


def main():
    import distributed

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--tasks", type=int, default=640)
    parser.add_argument("--seconds", type=float, default=1.9)
    args = parser.parse_args()
    spread = np.random.default_rng(0).uniform(0.8, 1.2, args.tasks)
    durations = (args.seconds * spread).tolist()
    done = []
    with (
        distributed.LocalCluster(
            n_workers=args.workers, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        open_workers(args.workers, cluster.scheduler_address) as workers,
    ):
        loop = TaskLoop(
            workers,
            lambda workers, seconds: workers.executor().submit(time.sleep, seconds),
            lambda key, task, result: done.append(key),
            fail,
        )
        start = time.perf_counter()
        loop.work({str(k): duration for k, duration in enumerate(durations)})
        elapsed = time.perf_counter() - start
    ideal = ideal_s(durations, args.workers)
    results = {"elapsed_s": elapsed, "ideal_s": ideal, "overhead": elapsed / ideal - 1.0}
    report("cluster", {**results, "n_done": len(done), "load": os.getloadavg()}, **vars(args))


if __name__ == "__main__":
    main()
