"""Time of many recordings with one job and with several. Prints JSON.

Command: ``python -m benchmarks.speed.many [--recordings 4] [--events 5000000] [--jobs 2] [--repeats 3]
[--scene seamless]``.

Compared: `evcrisp.run_many` with ``auto`` and one translation per window, from AEDAT4 files to results
on disk, with the start of the processes. Cases alternate. The speed-up is the ratio of medians.
"""

import argparse
import statistics
import tempfile
from itertools import islice
from pathlib import Path

from benchmarks.measure import interleaved, report
from benchmarks.speed.long_scene import SCENES, long_events

import evcrisp


def simulate(folder, n_recordings, n_events, scene):
    for seed in range(n_recordings):
        evcrisp.write(folder / f"scene{seed}.aedat4", long_events(scene, n_events, seed))


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.glob("*/*")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=4)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scene", choices=SCENES, default="seamless")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data, out = Path(temporary) / "data", Path(temporary)
        data.mkdir()
        simulate(data, args.recordings, args.events, args.scene)

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
