"""Pieces of one recording on a real cluster, and after the program was killed."""

import os
import signal
import subprocess
import sys
import time

import pytest

import evcrisp
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.pipeline.many.batch import Batch
from evcrisp.pipeline.many.finished import JOURNAL
from evcrisp.pipeline.many.run_many import _totals
from evcrisp.pipeline.many.run_task import RunTask
from evcrisp.pipeline.many.splitting import SCRATCH, split_run
from evcrisp.pipeline.pieces.plan import PieceSizes
from evcrisp.pipeline.run_outputs import RunSettings

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_pieces_cluster import process
if __name__ == "__main__":
    process(Path(sys.argv[2]), Path(sys.argv[3]), jobs=2)
"""


def process(path, folder, **where):
    """Process a recording in pieces of 4096 events."""
    settings = RunSettings(
        method=ESTIMATORS["baf+cmax"](), motion="translation", camera=None,
        windowing=evcrisp.Windowing(), sizes=PieceSizes(4096, 512, 2048, 1024),
    )  # fmt: skip
    return Batch(**where).process([path], folder, RunTask(settings, {}), _totals, split_run)


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != JOURNAL)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.aedat4"
    scene = evcrisp.simulate(
        resolution=(80, 60), theta=(200.0, 80.0), duration_us=900_000, noise_hz=5.0, seed=4
    )
    evcrisp.write(path, scene.events.with_signal(None), imu=scene.imu)
    return path


def test_cluster_writes_the_same_bytes(recording, tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    shares = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        where = {"scheduler": cluster.scheduler_address, "jobs": 2}
        on_piece = lambda name, share: shares.append(share)  # noqa: E731
        result = process(recording, tmp_path / "cluster", on_piece=on_piece, **where)
    process(recording, tmp_path / "here", jobs=0)
    assert result.failures == {}
    assert shares[-1] == 1.0
    assert contents(tmp_path / "cluster") == contents(tmp_path / "here")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_program_continues(recording, tmp_path, number):
    out = tmp_path / "out"
    (tmp_path / "program.py").write_text(PROGRAM)
    here = os.path.dirname(__file__)  # noqa: PTH120
    command = [sys.executable, tmp_path / "program.py", here, recording, out]
    program = subprocess.Popen(command)
    scratch = out / "long" / SCRATCH
    try:
        while program.poll() is None and not list(scratch.glob("piece-*/piece.json")):
            time.sleep(0.01)
        program.send_signal(number)
    finally:
        program.wait()
    left = list(scratch.glob("piece-*/piece.json"))
    assert left
    assert not (out / "long" / "summary.json").exists()
    result = process(recording, out, jobs=2)
    assert result.failures == {}
    process(recording, tmp_path / "here", jobs=0)
    found = {name: data for name, data in contents(out).items() if "/.part-" not in name}
    assert found == contents(tmp_path / "here")
