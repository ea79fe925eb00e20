"""Read the same damaged files with other programs: ``python -m tests.fuzz.others COUNT [READER ...]``.

Programs that are missing or do not read the intact sample are named and left out. ``--python
aestream=PATH`` runs a program with the Python of another environment. Prints a line of JSON per program and sample. Each program runs in a process of its own. ``others`` are
reads with other events than those of the intact file, without an error; a changed number in a file
without checksums is one of them for every program.
"""

import argparse
import collections
import json
import select
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from tests.fuzz.mutations import damage
from tests.fuzz.samples import all_samples

_EVCRISP = """
import evcrisp, logging
logging.getLogger("evcrisp").setLevel(logging.CRITICAL)
def read(path):
    events = evcrisp.read(path, resolution=(65536, 65536))
    return [events.x, events.y, events.t, events.p]
"""
_H5PY = """
import h5py, hdf5plugin
def read(path):
    with h5py.File(path) as file:
        return [file["events"][name][:] for name in "xytp"]
"""
_SCIPY = """
from scipy.io import loadmat
def read(path):
    return sorted((k, v) for k, v in loadmat(path).items() if k[0] != "_")[0][1]
"""
_DV = """
import dv_processing as dv
def read(path):
    recording, found = dv.io.MonoCameraRecording(path), []
    while (events := recording.getNextEventBatch()) is not None:
        found.append(events.numpy())
    return found
"""
_AEDAT = """
import aedat
def read(path):
    return [packet["events"] for packet in aedat.Decoder(path) if "events" in packet]
"""
_ROSBAGS = """
from rosbags.rosbag1 import Reader
def read(path):
    with Reader(path) as bag:
        return [bytes(message) for _, _, message in bag.messages()]
"""
_EVENTCV = """
import eventcv
def read(path):
    return eventcv.load(path).numpy()
"""
_AESTREAM = """
import aestream
def read(path):
    return aestream.FileInput(path, (34, 34), ignore_time=True).load()
"""
_STREAMS = {"eventcv": _EVENTCV, "aestream": _AESTREAM, "evcrisp": _EVCRISP}
#: Reader, sample, and the programs that read it.
CASES = (
    ("hdf5", "hdf5-gzip.h5", {"h5py": _H5PY, "eventcv": _EVENTCV, "evcrisp": _EVCRISP}),
    ("hdf5", "hdf5-blosc.h5", {"h5py": _H5PY, "evcrisp": _EVCRISP}),
    ("aedat4", "aedat4-lz4-data.aedat4", {"dv-processing": _DV, "aedat": _AEDAT, **_STREAMS}),
    ("evt3", "evt3-data.raw", _STREAMS),
    ("dat", "dat.dat", _STREAMS),
    ("mat", "mat-struct.mat", {"scipy": _SCIPY, "evcrisp": _EVCRISP}),
    ("aedat4", "aedat4-none-data.aedat4", {"dv-processing": _DV, "aedat": _AEDAT, "evcrisp": _EVCRISP}),
    ("ros1", "ros1-none-data.bag", {"rosbags": _ROSBAGS, "evcrisp": _EVCRISP}),
)  # fmt: skip
_LOOP = """
import hashlib, os, pickle, sys, warnings
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # some programs print
warnings.simplefilter("ignore")
{code}
for line in sys.stdin:
    try:
        print("read", hashlib.sha256(pickle.dumps(read(line.strip()))).hexdigest(), file=answers, flush=True)
    except Exception as error:
        print("error", type(error).__name__, file=answers, flush=True)
"""
#: Time for one file, s; wall time, so that a busy machine needs more than the 5 s of a hang.
_WAIT_S = 10.0


class _Program:
    """A process that reads files; started again after a crash or a hang."""

    def __init__(self, code: str, python: str) -> None:
        self._command = [python, "-c", _LOOP.format(code=code)]
        self._process: subprocess.Popen[str] | None = None

    def read(self, path: Path) -> str:
        """Return "read DIGEST", "error NAME", "crash" or "hang"."""
        if self._process is None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self._process = subprocess.Popen(
                self._command, stderr=subprocess.DEVNULL, text=True, **pipes
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        is_ready = select.select([process.stdout], [], [], _WAIT_S)[0]
        line = process.stdout.readline().strip() if is_ready else "hang"
        if line in ("", "hang"):
            self.close()
        return line or "crash"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def compare(
    reader: str, name: str, programs: dict[str, str], count: int, pythons: dict[str, str]
) -> None:
    """Print what the programs do with damaged copies of a sample."""
    sample = next(sample for sample in all_samples(reader) if sample.name == name)
    ((file, data),) = sample.files.items()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        for title, code in programs.items():
            program = _Program(code, pythons.get(title, sys.executable))
            path.write_bytes(data)
            intact, found = program.read(path), collections.Counter()
            if not intact.startswith("read"):
                print(json.dumps({"sample": name, "program": title, "intact": intact}), flush=True)
                program.close()
                continue
            for index in range(count):
                path.write_bytes(damage(np.random.default_rng([9, index]), data, [data]).data)
                result = program.read(path)
                kind = result.split()[0]
                if kind == "read":
                    kind = "same" if result == intact else "others"
                    found["random"] += program.read(path) != result
                found[kind] += 1
            program.close()
            print(
                json.dumps({"sample": name, "program": title, "count": count, **found}), flush=True
            )


def main() -> None:
    """Compare all programs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("readers", nargs="*")
    parser.add_argument("--python", action="append", default=[], metavar="PROGRAM=PATH")
    options = parser.parse_args()
    pythons = dict(text.split("=", 1) for text in options.python)
    for reader, name, programs in CASES:
        if not options.readers or reader in options.readers:
            compare(reader, name, programs, options.count, pythons)


if __name__ == "__main__":
    main()
