"""Bytes and time that a part of a recording takes, by format. Prints JSON.

Command: ``python -m benchmarks.speed.parts [--events 20000000] [--repeats 5]``.

Compared: a tenth of a second, 90 s after the first event, against the whole recording of 100 s. Bytes
are those that the process reads, as Linux counts them; files are in the page cache.
"""

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measure import interleaved, report

import evcrisp
from evcrisp.io import WRITERS

FORMATS = ("aedat4", "dsec", "npz", "columns", "dat", "evt2", "evt3", "es", "csv")
LENGTH_US = 100_000_000
PART = {"start_us": 90_000_000, "duration_us": 100_000}


def random_events(n):
    rng = np.random.default_rng(0)
    return evcrisp.Events(
        x=rng.integers(0, 346, n),
        y=rng.integers(0, 260, n),
        t=np.sort(rng.integers(0, LENGTH_US, n)),
        p=rng.integers(0, 2, n),
        resolution=(346, 260),
    )


def n_bytes_read(call):
    before = _count()
    call()
    return _count() - before


def _count():
    return int(Path("/proc/self/io").read_text().split()[1])


def n_bytes(path):
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def measure(path, repeats):
    cases = {"part": lambda: evcrisp.read(path, **PART), "whole": lambda: evcrisp.read(path)}
    seconds = interleaved(cases, repeats)
    return {
        "file_mb": n_bytes(path) / 1e6,
        "part_mb": n_bytes_read(cases["part"]) / 1e6,
        "part_ms": 1e3 * statistics.median(seconds["part"]),
        "whole_ms": 1e3 * statistics.median(seconds["whole"]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    events, found = random_events(options.events), {}
    for name in FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"a{WRITERS[name].suffixes[0]}"
            evcrisp.write(path, events, format=name)
            found[name] = measure(path, options.repeats)
            shutil.rmtree(path, ignore_errors=True)
    report("parts", found, **vars(options))


if __name__ == "__main__":
    main()
