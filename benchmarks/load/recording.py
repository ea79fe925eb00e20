"""Long recordings through `convert`, `filter` and `run`: memory, rate and processor time by tenths.

Command: ``python -m benchmarks.load.recording OPERATION [--events N] [--folder DIR]``, with the
operation ``convert``, ``filter`` or ``run``.

The recording repeats a simulated second with later times, and is removed at the end. The operation
runs in a process of its own, which samples itself at every chunk it writes. Prints JSON.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.load.flatness import Sample, sample, tenths, verdict
from benchmarks.measure import report

import evcrisp
from evcrisp.pipeline.convert import convert_recording

#: Operation -> number of events.
OPERATIONS = {"convert": 1_000_000_000, "filter": 1_000_000_000, "run": 200_000_000}
#: Samples per run, at most.
N_SAMPLES = 2000


def repeated(n_events):
    """Yield about ``n_events`` events: the same simulated second at later times."""
    scene = evcrisp.simulate(theta=(300, -120), duration_us=1_000_000, noise_hz=5.0, seed=1)
    events = scene.events
    for k in range(max(1, round(n_events / len(events)))):
        yield evcrisp.Events(
            x=events.x,
            y=events.y,
            t=events.t + k * 1_000_000,
            p=events.p,
            resolution=events.resolution,
        )


def operate(operation, source, folder, n_events):
    """Process the recording in this process; print the samples as JSON."""
    samples, step, n_done = [sample(0)], n_events / N_SAMPLES, 0

    def on_chunk(chunk):
        nonlocal n_done
        n_done += len(chunk)
        if n_done >= samples[-1].n_events + step:
            samples.append(sample(n_done))

    if operation == "convert":
        convert_recording(source, folder / "out.aedat4", on_chunk=on_chunk)
    elif operation == "filter":
        evcrisp.filter_recording(source, folder / "out.aedat4", "baf", on_chunk=on_chunk)
    else:
        evcrisp.run(source, folder / "out", on_chunk=on_chunk)
    samples.append(sample(n_done))
    print(json.dumps([asdict(s) for s in samples]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("operation", choices=OPERATIONS)
    parser.add_argument("--events", type=int, help="number of events; default: by operation")
    parser.add_argument("--folder", type=Path, help="folder for the files; default: temporary")
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    n_events = options.events or OPERATIONS[options.operation]
    if options.source is not None:
        operate(options.operation, options.source, options.folder, n_events)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder, source = Path(name), Path(name, "long.aedat4")
        n_written = evcrisp.write(source, repeated(n_events))
        words = ["-m", "benchmarks.load.recording", options.operation, "--events", str(n_written)]
        words += ["--source", str(source), "--folder", str(folder)]
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, *words], stdout=subprocess.PIPE, text=True, check=True
        )
        samples = [Sample(**fields) for fields in json.loads(done.stdout)]
        facts = {
            "n_events": n_written,
            "n_written": samples[-1].n_events,
            "wall_s": time.monotonic() - start,
            "source_mb": source.stat().st_size / 1e6,
        }
    report("load", {**facts, **verdict(tenths(samples))}, operation=options.operation)


if __name__ == "__main__":
    main()
