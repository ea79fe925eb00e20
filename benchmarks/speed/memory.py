"""Peak memory of converting a long recording. Prints JSON.

Command: ``python -m benchmarks.speed.memory [--events 100000000]``.

Compared: conversions between formats, each in a process of its own. The recording is written once, in
chunks. All outputs must hold the same events.

Floor: the process without a recording; memory must not grow with the number of events.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measure import edge_events, report

import evcrisp

PIECE = 1_000_000

CONVERSIONS = (
    ("aedat4", "raw"),
    ("raw", "aedat4"),
    ("aedat4", "h5"),
    ("h5", "npz"),
    ("npz", "txt"),
    ("txt", "columns"),
)


def long_recording(n_events):
    """Yield the same million events at increasing times."""
    piece = edge_events(PIECE)
    span = piece.duration_us + 1
    for k in range(n_events // PIECE):
        yield evcrisp.Events(
            x=piece.x, y=piece.y, t=piece.t + k * span, p=piece.p, resolution=piece.resolution
        )


# High-water mark of the operating system; wait4 would include this process before the exec.
CHILD = """
import pathlib, resource, sys
from evcrisp.cli import main
main(["convert", *sys.argv[1:]], standalone_mode=False)
status = pathlib.Path("/proc/self/status").read_text()
peak_kb = int(status.partition("VmHWM:")[2].split()[0])
usage = resource.getrusage(resource.RUSAGE_SELF)
print(peak_kb / 1024, usage.ru_utime + usage.ru_stime)
"""


def convert(source, target):
    """Convert in a new process; return its peak resident size and time."""
    words = [sys.executable, "-c", CHILD, source, target]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    peak_mb, cpu_s = map(float, result.stdout.split()[-2:])
    return {"peak_mb": peak_mb, "cpu_s": cpu_s}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--folder", type=Path, help="folder for the files; default: temporary")
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        first = folder / "long.aedat4"
        evcrisp.write(first, long_recording(options.events))
        checks = {}
        for source, target in CONVERSIONS:
            path = folder / f"long.{target}"
            if path.exists():
                path = folder / f"again.{target}"
            results[f"{source} to {target}"] = convert(folder / f"long.{source}", path)
            with evcrisp.open(path, resolution=(346, 260)) as recording:
                checks[path.name] = checksum(recording)
        if len(set(checks.values())) != 1:
            raise SystemExit(f"the files differ: {json.dumps(checks)}")
    report("memory", results, events=options.events)


def checksum(recording):
    """Return number and checksum of the events."""
    n = total = 0
    for chunk in recording.chunks():
        n += len(chunk)
        weights = chunk.x.astype(np.int64) * 7 + chunk.y * np.int64(13) + chunk.p
        total = (total + int((chunk.t * weights).sum())) % 2**61
    return n, total


if __name__ == "__main__":
    main()
