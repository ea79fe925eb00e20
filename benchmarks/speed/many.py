"""Time of many recordings with one job and with several. Prints JSON.

Command: ``python -m benchmarks.speed.many [--recordings 4] [--events 5000000] [--jobs 2] [--repeats 3]``.

Compared: `evcrisp.run_many` with ``auto`` and one translation per window, from AEDAT4 files to results
on disk, with the start of the processes. Cases alternate. The speed-up is the ratio of medians.
"""

import argparse
import statistics
import tempfile
from itertools import islice
from pathlib import Path

from benchmarks.measure import interleaved, report

import evcrisp


def chunks_of(scene, n_events):
    """Yield a simulated scene again and again, later each time, until there are enough events."""
    events, length_us = scene.events.with_signal(None), int(scene.events.t[-1]) + 1
    n = 0
    while n < n_events:
        part = events[: n_events - n]
        yield evcrisp.Events(
            x=part.x, y=part.y, t=part.t + n // len(events) * length_us, p=part.p,
            resolution=part.resolution,
        )  # fmt: skip
        n += len(part)


def simulate(folder, n_recordings, n_events):
    for seed in range(n_recordings):
        scene = evcrisp.simulate(duration_us=500_000, noise_hz=5.0, seed=seed)
        evcrisp.write(folder / f"scene{seed}.aedat4", chunks_of(scene, n_events))


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.glob("*/*")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=4)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data, out = Path(temporary) / "data", Path(temporary)
        data.mkdir()
        simulate(data, args.recordings, args.events)

        def case(jobs):
            settings = {"motion": "translation", "jobs": jobs, "overwrite": True}
            return lambda: evcrisp.run_many([data], out / str(jobs), **settings)

        cases = {str(jobs): case(jobs) for jobs in (1, args.jobs)}
        seconds = interleaved(cases, args.repeats)
        is_same = contents(out / "1") == contents(out / str(args.jobs))
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    one, several = islice(medians.values(), 2)
    results = {"seconds": seconds, "medians": medians, "speedup": one / several}
    report("many", {**results, "same_bytes": is_same}, **vars(args))


if __name__ == "__main__":
    main()
