"""Throughput of reading and writing Prophesee files, against eventcv. Prints JSON.

Command: ``python -m benchmarks.speed.evt``.

Compared: reading the same file with evcrisp and eventcv, and writing. Events have the structure of such
sensors: groups of equal time, rows within a group, a few pixels per row, some runs of neighbors.

Floor: none but eventcv; files are read from the page cache.
"""

import argparse
import importlib.util
import statistics
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measure import interleaved, rates, report

import evcrisp

BLOCK = 1 << 20
RESOLUTION = (1280, 720)


def sensor_block(seed=0):
    """Return columns of about a million events: 25 per us, 4 per row, a run in each tenth row."""
    rng = np.random.default_rng(seed)
    n_rows = BLOCK // 4
    is_run = rng.random(n_rows) < 0.1
    n_in_row = np.where(is_run, rng.integers(6, 24, n_rows), rng.geometric(0.38, n_rows))
    row = np.repeat(np.arange(n_rows), n_in_row)
    place = np.arange(row.size) - np.repeat(np.cumsum(n_in_row) - n_in_row, n_in_row)
    start = rng.integers(0, RESOLUTION[0] - 32, n_rows)[row]
    x = np.where(is_run[row], start + place, rng.integers(0, RESOLUTION[0], row.size))
    x = x[np.lexsort((x, row))]
    y = rng.integers(0, RESOLUTION[1], n_rows)[row]
    t = np.cumsum(rng.random(n_rows) < 1 / 6)[row]
    p = np.where(is_run, row[np.cumsum(n_in_row) - 1] % 2, 0)[row].astype(bool)
    p ^= ~is_run[row] & (rng.random(row.size) < 0.5)
    return x, y, t, p


def sensor_events(n):
    """Return n events, repetitions of one block."""
    x, y, t, p = sensor_block()
    n_blocks = -(-n // x.size)
    times = [t + k * (t[-1] + 1) for k in range(n_blocks)]
    return evcrisp.Events(
        x=np.tile(x, n_blocks)[:n],
        y=np.tile(y, n_blocks)[:n],
        t=np.concatenate(times)[:n],
        p=np.tile(p, n_blocks)[:n],
        resolution=RESOLUTION,
    )


def stream(path):
    with evcrisp.open(path) as recording:
        return sum(len(chunk) for chunk in recording.chunks())


def measured(name, events, folder, repeats):
    """Return the rates of one format, and the ratio of reading to eventcv."""
    path = folder / f"{name}.{'dat' if name == 'dat' else 'raw'}"
    evcrisp.write(path, events, format=name)
    if not evcrisp.read(path).equals(events):
        raise SystemExit(f"{name}: the file does not hold the events")
    cases = {
        "read": lambda: evcrisp.read(path),
        "stream": lambda: stream(path),
        "write": lambda: evcrisp.write(path, events, format=name, overwrite=True),
    }
    if importlib.util.find_spec("eventcv"):
        import eventcv

        cases["read_eventcv"] = lambda: eventcv.load(str(path))
    seconds = interleaved(cases, repeats)
    result = {"bytes_per_event": path.stat().st_size / len(events), **rates(seconds, len(events))}
    if "read_eventcv" in seconds:
        medians = {case: statistics.median(times) for case, times in seconds.items()}
        result["read_ratio_to_eventcv"] = medians["read_eventcv"] / medians["read"]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=20_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="folder for the files; default: temporary")
    options = parser.parse_args()
    events = sensor_events(options.events)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        results = {
            name: measured(name, events, Path(folder), options.repeats)
            for name in ("evt3", "evt2", "dat")
        }
    report("evt", results, events=options.events, repeats=options.repeats)


if __name__ == "__main__":
    main()
