"""Time of `run` on one long recording with one motion, from AEDAT4 to results on disk. Prints JSON.

Command: ``python -m benchmarks.speed.end_to_end [--events 50000000] [--jobs 2] [--motion auto]
[--repeats 3] [--stages-only] [--bound] [--scene jumping]``.

The recording repeats a simulated scene with one translation and noise of 5 Hz per pixel: 4 s that
continue at their start, or half a second, so that the image jumps. Measured: events per second, speed-up,
processor time and largest memory of ``evcrisp run`` in fresh processes, with one job and with several, in
turns; and in this process, the processor time of each stage. Times of the commands include the start of
the processes. With ``--bound``, also the speed-up of processes that have a recording each: what two jobs
lose beyond it is their joint work. The first run of a command after a change of the code compiles
kernels; it is not counted.
"""

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import report
from benchmarks.speed.long_scene import SCENES, write_apart

import evcrisp
from evcrisp.io.recording import Recording
from evcrisp.io.writing import ChunkWriter
from evcrisp.pipeline import labels_file, run_log, window_objects
from evcrisp.pipeline.label_merging import LabeledChunk, LabelMerger
from evcrisp.pipeline.tracking import Tracker
from evcrisp.pipeline.windowing import Windowing

#: Functions of each stage; a stage does not count what another one does within it.
STAGES = {
    "read": [(Recording, "chunks")],
    "cut": [(Windowing, "cut")],
    "estimate": [(Tracker, "estimate")],
    "tables": [
        (run_log.MotionFile, "write_window"),
        (run_log.LayersFile, "write_window"),
        (run_log.RunLog, "add_window"),
        (run_log.RunLog, "add_labels"),
        (window_objects.WindowObjects, "of"),
    ],
    "merge": [(LabelMerger, "add"), (LabelMerger, "finish"), (LabeledChunk, "kept")],
    "write": [
        (labels_file.LabelsFile, "write"),
        (labels_file.LabelsFile, "finish"),
        (ChunkWriter, "write"),
        (ChunkWriter, "__exit__"),
    ],
}


class Clock:
    """Processor time by stage; the innermost stage counts."""

    def __init__(self):
        self.seconds, self.stack, self.last = {}, ["other"], time.thread_time()

    def switch(self):
        """Add the time since the last switch to the current stage."""
        now = time.thread_time()
        stage = self.stack[-1]
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self.last
        self.last = now

    @contextmanager
    def within(self, stage):
        """Count the block as a stage."""
        self.switch()
        self.stack.append(stage)
        try:
            yield
        finally:
            self.switch()
            self.stack.pop()

    def timed(self, stage, function):
        """Return a function, or one that returns an iterator, which is timed."""

        def items(iterator):
            while True:
                with self.within(stage):
                    item = next(iterator, None)
                if item is None:
                    return
                yield item

        @functools.wraps(function)
        def call(*args, **kwargs):
            with self.within(stage):
                result = function(*args, **kwargs)
            return items(result) if hasattr(result, "__next__") else result

        return call


def stages_of(path, folder, settings):
    """Return the processor time of each stage of a run in this process, s."""
    clock = Clock()
    saved = []
    for stage, functions in STAGES.items():
        for owner, name in functions:
            original = owner.__dict__[name]
            saved.append((owner, name, original))
            is_class = isinstance(original, classmethod)
            timed = clock.timed(stage, original.__func__ if is_class else original)
            setattr(owner, name, classmethod(timed) if is_class else timed)
    try:
        clock.last = time.thread_time()
        evcrisp.run(path, folder, overwrite=True, **settings)
        clock.switch()
    finally:
        for owner, name, original in saved:
            setattr(owner, name, original)
    return clock.seconds


def commands(paths, folders, *more):
    """Run a command for each recording, at once; return wall time, processor time (s), largest memory (MB)."""
    start, cpu, memory = time.perf_counter(), 0.0, 0.0
    words = [sys.executable, "-m", "evcrisp", "run", "--force", *more]
    running = [
        subprocess.Popen([*words, str(path), "-o", str(folder)], stdout=subprocess.DEVNULL)
        for path, folder in zip(paths, folders, strict=True)
    ]
    for process in running:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        cpu += used.ru_utime + used.ru_stime
        memory = max(memory, used.ru_maxrss / 1e3)
    return time.perf_counter() - start, cpu, memory


def bound(folder, args):
    """Return the speed-up of processes that share nothing but the machine, with a recording each.

    Each has the events of one of the jobs. There is nothing to plan, to join or to wait for.
    """
    paths = [folder / f"part{k}.aedat4" for k in range(args.jobs)]
    for seed, path in enumerate(paths):
        write_apart(path, args.scene, args.events // args.jobs, seed)
    cases = {"one": paths[:1], "all": paths}
    times = {name: [] for name in cases}
    for repeat in range(args.repeats + 1):
        for name, chosen in cases.items():
            folders = [folder / f"apart{k}" for k in range(len(chosen))]
            found = commands(chosen, folders, "--motion", args.motion)
            if repeat:
                times[name].append(found[:2])
    one, several = (statistics.median(row[0] for row in rows) for rows in times.values())
    return {"wall_and_cpu_s": times, "speedup": args.jobs * one / several}


def times_of(path, folder, args):
    """Return the times of the command with one job and with several, in turns."""
    runs = {jobs: [] for jobs in (1, args.jobs)}
    for repeat in range(args.repeats + 1):
        for jobs, measured in runs.items():
            more = "--motion", args.motion, "--jobs", str(jobs)
            found = commands([path], [folder / f"jobs{jobs}"], *more)
            if repeat:
                measured.append(found)
    wall = {jobs: statistics.median(row[0] for row in rows) for jobs, rows in runs.items()}
    return {
        "wall_s": {str(jobs): [row[0] for row in rows] for jobs, rows in runs.items()},
        "cpu_s": {str(jobs): [row[1] for row in rows] for jobs, rows in runs.items()},
        "largest_process_mb": max(row[2] for rows in runs.values() for row in rows),
        "mev_s": {str(jobs): args.events / 1e6 / value for jobs, value in wall.items()},
        "speedup": wall[1] / wall[args.jobs],
        "same_bytes": contents(folder / "jobs1") == contents(folder / f"jobs{args.jobs}"),
    }


def contents(folder):
    """Return the digests of the results of a recording."""
    import hashlib

    files = sorted(path for path in folder.glob("*/*") if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=50_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--motion", default="auto")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--stages-only", action="store_true")
    parser.add_argument(
        "--bound", action="store_true", help="measure processes without joint work too"
    )
    parser.add_argument("--scene", choices=SCENES, default="seamless")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        small, path = folder / "small.aedat4", folder / "long.aedat4"
        write_apart(small, args.scene, 300_000)
        write_apart(path, args.scene, args.events)
        results = {} if args.stages_only else times_of(path, folder, args)
        if args.bound:
            results["bound"] = bound(folder, args)
        evcrisp.run(small, folder / "small", motion=args.motion)  # compiles
        seconds = stages_of(path, folder / "stages", {"motion": args.motion})
        total = sum(seconds.values())
        results |= {
            "stage_cpu_s_per_mev": {
                name: round(1e6 * value / args.events, 5) for name, value in seconds.items()
            },
            "share_of_reading_and_writing": (seconds["read"] + seconds["write"]) / total,
            "cpu_s_per_mev": 1e6 * total / args.events,
        }
        results["load"] = os.getloadavg()
    report("end_to_end", json.loads(json.dumps(results)), **vars(args))


if __name__ == "__main__":
    main()
