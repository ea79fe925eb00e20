"""Cost of reading HDF5 in another process, by layout and size of the file.

Command: ``python -m benchmarks.speed.hdf5_process [--layouts dsec mvsec ecf ...] [--events 20 ...]``.

Each file is read in this process (``trusted=True``) and in another one, in turns. Printed: the least
wall time, and the least processor time of both processes together (Linux), s. On a busy machine only the
processor time says much. ``--apart`` gives each process a core of its own, where other programs would keep
them together. ``--start`` times whole programs that read one file instead.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
from tests.unit.io.hdf5.test_ecf import EVENT_CD, block_of, create

import evcrisp
from evcrisp.io.hdf5.reader import Hdf5Reader

ECF_ROWS = 1 << 14
_PROGRAM = """
import sys, evcrisp
from evcrisp.io.hdf5.reader import Hdf5Reader
with evcrisp.open(sys.argv[1], format=Hdf5Reader(trusted=sys.argv[2] == "this")) as recording:
    recording.read()
"""


def make_events(n, *, first=0):
    """Return events of a moving edge and noise, 1 per us."""
    rng = np.random.default_rng(0)
    t = first + np.cumsum(rng.integers(0, 3, n))
    x = (np.arange(n) // 50 + rng.integers(0, 40, n)) % 640
    y, p = rng.integers(0, 480, n), rng.random(n) < 0.5
    x, y = x.astype(np.uint16), y.astype(np.uint16)
    return evcrisp.Events(x=x, y=y, t=t, p=p, resolution=(640, 480))


def write_dsec(compression):
    """Return a function that writes our own files."""

    def write(path, n):
        evcrisp.write(path, make_events(n, first=1000), format="dsec", compression=compression)

    return write


def write_mvsec(path, n):
    """Write a table of floating-point numbers in chunks of gzip."""
    events = make_events(n)
    columns = (events.x % 346, events.y % 260, events.t / 1e6, np.where(events.p, 1, -1))
    with h5py.File(path, "w") as file:
        table = np.stack(columns, axis=1).astype(np.float64)
        options = {"compression": "gzip", "compression_opts": 1}
        file.create_dataset("davis/left/events", data=table, chunks=(1 << 14, 4), **options)


def write_prophesee(path, n):
    """Write records in chunks of Zstandard."""
    events = make_events(n)
    records = np.zeros(n, EVENT_CD)
    for name in ("x", "y", "t", "p"):
        records[name] = getattr(events, name)
    with h5py.File(path, "w") as file:
        file.attrs["geometry"] = "640x480"
        options = dict(hdf5plugin.Zstd(clevel=1))
        file.create_dataset("CD/events", data=records, chunks=(ECF_ROWS,), **options)


def write_ecf(path, n):
    """Write one block of ECF again and again, with other times."""
    events = make_events(ECF_ROWS)
    block = block_of(events, 0)
    n -= n % ECF_ROWS
    with h5py.File(path, "w") as file:
        dataset = create(file, n, ECF_ROWS)
        for first in range(0, n, ECF_ROWS):
            base = int.from_bytes(block[4:12], "little") + 2 * first
            shifted = block[:4] + base.to_bytes(8, "little") + block[12:]
            dataset.id.write_direct_chunk((first,), shifted)
        file.attrs["geometry"] = "640x480"


LAYOUTS = {
    "dsec": write_dsec("blosc"),
    "dsec-gzip": write_dsec("gzip"),
    "dsec-plain": write_dsec("none"),
    "mvsec": write_mvsec,
    "prophesee": write_prophesee,
    "ecf": write_ecf,
}


def processor_s(pid):
    """Return the processor time of a process, s; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


def read(path, place, is_apart=False):
    """Return the wall time and the processor time of a read, s; ``is_apart``: on the next core."""
    wall, own = time.perf_counter(), time.process_time()
    with evcrisp.open(path, format=Hdf5Reader(trusted=place == "this")) as recording:
        pid = None if place == "this" else recording._source.worker.process.pid
        if pid is not None and is_apart:
            os.sched_setaffinity(pid, {max(os.sched_getaffinity(0)) + 1})
        before = 0.0 if pid is None else processor_s(pid)
        events = recording.read()
        other = 0.0 if pid is None else processor_s(pid) - before
    times = time.perf_counter() - wall, time.process_time() - own + other
    del events
    return times


def run_program(path, place, is_apart=False):
    """Return the wall time of a program that reads a file, and 0."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", _PROGRAM, path, place], check=True)
    return time.perf_counter() - start, 0.0


def main():
    """Print a line per layout and size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    parser.add_argument("--events", nargs="+", type=float, default=[20.0], help="millions")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--start", action="store_true")
    parser.add_argument("--apart", action="store_true", help="the first core, and the second")
    options = parser.parse_args()
    measure = partial(run_program if options.start else read, is_apart=options.apart)
    if options.apart:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("layout       Mev  wall this  other  ratio   processor this  other  ratio")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.h5"
        for layout in options.layouts:
            for millions in options.events:
                LAYOUTS[layout](path, int(1e6 * millions))
                places = ("this", "other")
                found = {place: [measure(path, place)] for place in places}  # the first is left out
                for _ in range(options.repeats):
                    for place in places:
                        found[place].append(measure(path, place))
                wall, cpu = (
                    [min(times[kind] for times in found[place][1:]) for place in places]
                    for kind in (0, 1)
                )
                ratios = [two / one if one else 0.0 for one, two in (wall, cpu)]
                print(
                    f"{layout:10} {millions:6g}  {wall[0]:9.3f} {wall[1]:6.3f} {ratios[0]:6.2f}"
                    f"   {cpu[0]:14.3f} {cpu[1]:6.3f} {ratios[1]:6.2f}",
                    flush=True,
                )
                path.unlink()


if __name__ == "__main__":
    main()
