"""``evcrisp flow``."""

import csv
import signal
import subprocess
import sys

import numpy as np
import pytest

import evcrisp

#: The program, with Ctrl+C after the second window was estimated.
STOPPED = """
import signal, sys
from evcrisp.cli import main
from evcrisp.estimators.baselines.cmax import Cmax

run, n_windows = Cmax.run, 0

def run_and_stop(*args):
    global n_windows
    n_windows += 1
    if n_windows == 3:
        signal.raise_signal(signal.Signals[sys.argv[1]])
    return run(*args)

Cmax.run = run_and_stop
main(sys.argv[2:])
"""


@pytest.mark.parametrize("suffix", ["npz", "flo", "png"])
def test_flow_writes_a_file_per_window_and_a_table(run, scene_file, tmp_path, suffix):
    out = tmp_path / "out"
    words = ("-m", "cmax", "--to", suffix, "--window-ms", 30)
    printed = run("flow", scene_file, "-o", out, *words).stdout
    assert printed == f"Wrote 4 flow files and flow.csv to {out}.\n"
    with (out / "flow.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {path.name for path in out.iterdir()} == {"flow.csv", *(row["file"] for row in rows)}
    windowing = evcrisp.Windowing(window_us=30_000)
    estimates = evcrisp.track(evcrisp.read(scene_file), "cmax", windowing=windowing)
    for row, estimate in zip(rows, estimates, strict=True):
        times = {"t_start": int(row["t_start_us"]), "t_end": int(row["t_end_us"])}
        flow = evcrisp.read_flow(out / row["file"], **times)
        step_px_s = 0.5 / 128 / flow.duration_s if suffix == "png" else 0.0
        expected = np.broadcast_to(estimate.theta, (60, 80, 2))
        np.testing.assert_allclose(flow.velocity, expected, rtol=1e-6, atol=1.01 * step_px_s)


def test_options_of_windows_and_motion(run, scene_file, tmp_path):
    out = tmp_path / "out"
    words = ("--window-ms", "50", "--overlap", "0.5", "--motion", "similarity", "-m", "cmax")
    run("flow", scene_file, "-o", out, *words)
    with (out / "flow.csv").open() as file:
        starts = [int(row["t_start_us"]) for row in csv.DictReader(file)]
    assert np.diff(starts).tolist() == [25_000] * (len(starts) - 1)
    flow = evcrisp.read_flow(out / "flow-000000.npz")
    assert np.ptp(flow.velocity[..., 0]) > 0  # not the same everywhere


def test_existing_files_need_force(run, scene_file, tmp_path):
    out = tmp_path / "out"
    run("flow", scene_file, "-o", out, "-m", "cmax")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    message = run("flow", scene_file, "-o", out, "-m", "cmax", code=1).stderr
    assert "flow-000000.npz exists already. Replace it with --force." in message
    run("flow", scene_file, "-o", out, "-m", "cmax", "--force")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize(
    "words",
    [
        ("-m", "cmaxx"),
        ("--motion", "spin"),
        ("--to", "tiff"),
        ("--window-ms", "5", "--window-events", "9"),
    ],
)
def test_wrong_options_create_no_folder(run, scene_file, tmp_path, words):
    run("flow", scene_file, "-o", tmp_path / "out", *words, code=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_stopped_flow_keeps_whole_files(scene_file, tmp_path, name):
    out = tmp_path / "out"
    words = [name, "flow", str(scene_file), "-o", str(out), "-m", "cmax", "--to", "png"]
    words += ["--window-ms", "30"]
    command = [sys.executable, "-c", STOPPED, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 128 + signal.Signals[name]
    assert done.stderr.startswith(f"Stopped. Kept 2 flow files in {out}. For the whole recording")
    names = {"flow-000000.png", "flow-000001.png", "flow.csv"}
    assert {path.name for path in out.iterdir()} == names
    assert evcrisp.read_flow(out / "flow-000001.png").valid.all()
