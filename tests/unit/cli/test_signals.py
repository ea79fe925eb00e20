"""Ctrl+C and SIGTERM: exit codes, no partial files, finished results are kept."""

import csv
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import evcrisp
from evcrisp.pipeline.cancellation import CancellationToken

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")

#: Time limit, s: far above the usual duration, so that only a hanging program fails.
LONG_S = 120


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "scene.npz"
    scene = evcrisp.simulate(resolution=(160, 120), duration_us=3_000_000, noise_hz=5.0, seed=4)
    evcrisp.write(path, scene.events)
    return path


def stopped(words, is_at_work, number=signal.SIGINT, **options):
    """Start the program, send a signal when it works; return exit code, output, messages."""
    process = subprocess.Popen(
        [sys.executable, "-m", "evcrisp", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    try:
        deadline = time.monotonic() + LONG_S
        while not is_at_work():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "the program did not start to work"
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=LONG_S)
    finally:
        process.kill()
        process.wait()
    return process.returncode, out, err


def size_of(folder, ending):
    """Return the size of the growing file in a folder; 0 without one."""
    return sum(p.stat().st_size for p in folder.glob(f".part-*{ending}")) if folder.is_dir() else 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_run_keeps_finished_windows(recording, tmp_path, number):
    out = tmp_path / "out"
    # Labels of the second window are written when the third begins.
    words = ("run", recording, "-o", out, "-m", "paper", "--json")
    code, stdout, stderr = stopped(words, lambda: size_of(out, ".npz.signal") > 0, number)
    assert code == 128 + number
    summary = json.loads(stdout)
    summary.pop("elapsed_s")
    assert summary == json.loads((out / "summary.json").read_text())
    assert summary["stopped"]
    assert stderr.startswith(f"Stopped. Kept {summary['n_windows']} window")
    assert f"in {out}. To run the whole recording, use the same command with --force." in stderr
    assert {p.name for p in out.iterdir()} == {
        "labels.npz",
        "layers.csv",
        "motion.csv",
        "scene.clean.npz",
        "summary.json",
    }
    with (out / "motion.csv").open() as file:
        rows = list(csv.DictReader(file))
    events = evcrisp.read(recording)
    assert 0 < len(rows) == summary["n_windows"] < 100
    n_events = sum(int(row["n_events"]) for row in rows)
    with np.load(out / "labels.npz") as labels:
        signal_ = labels["signal"]
    assert n_events == summary["n_events"] == len(signal_)
    clean = evcrisp.read(out / "scene.clean.npz")
    assert clean.equals(events[:n_events][signal_])


def test_stopped_run_keeps_existing_results(recording, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "labels.npz").write_text("older")
    words = ("run", recording, "-o", out, "-m", "paper", "--force")
    code, stdout, stderr = stopped(words, lambda: size_of(out, ".npz.signal") > 0)
    assert (code, stdout) == (130, "")
    assert stderr == f"Stopped. {out} has no new results.\n"
    assert [(p.name, p.read_text()) for p in out.iterdir()] == [("labels.npz", "older")]


def test_stopped_pareto_shows_progress_and_leaves_no_files(terminal, recording, tmp_path):
    process = terminal.start("pareto", recording, "--points", 1001, "-o", tmp_path / "front.json")
    terminal.read_until("Tracing 1,001 points")
    process.send_signal(signal.SIGINT)
    assert "Stopped. Incomplete files are removed." in terminal.read_all()
    assert process.wait(timeout=LONG_S) == 130
    assert not list(tmp_path.iterdir())


def test_stopped_simulate_leaves_no_files(tmp_path):
    words = ("simulate", tmp_path / "long.es", "--duration-ms", "60000")
    code, stdout, stderr = stopped(words, lambda: size_of(tmp_path, ".es") > 0)
    assert (code, stdout) == (130, "")
    assert stderr.endswith("Stopped. Incomplete files are removed.\n")
    assert not list(tmp_path.iterdir())


def test_terminated_simulate_leaves_no_files(tmp_path):
    words = [
        sys.executable,
        "-m",
        "evcrisp",
        "simulate",
        tmp_path / "long.npz",
        "--duration-ms",
        "60000",
    ]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not [p for p in tmp_path.iterdir() if p.stat().st_size > 100_000]:
        assert process.poll() is None
        time.sleep(0.05)
    process.terminate()
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_stopped_reproduce_resumes(tmp_path):
    out = tmp_path / "out"
    words = (
        "reproduce",
        "table3",
        "--small",
        "-o",
        out,
        "--workers",
        "0",
        "--methods",
        "auto,eja",
    )
    code, _, stderr = stopped(words, lambda: list(out.glob("results/*.json")))
    assert code == 130
    assert stderr == f"Stopped. Results so far are in {out}; run the same command to continue.\n"
    n_done = len(list(out.glob("results/*.json")))
    words = [sys.executable, "-m", "evcrisp", *map(str, words)]
    again = subprocess.run(words, capture_output=True, text=True, timeout=LONG_S, check=True)
    assert f"{n_done} taken from" in again.stdout


def test_stopped_bench_resumes(tmp_path):
    folder, out = tmp_path / "data", tmp_path / "out"
    folder.mkdir()
    for seed in (1, 2):
        scene = evcrisp.simulate(resolution=(96, 72), duration_us=60_000, noise_hz=5.0, seed=seed)
        evcrisp.write(folder / f"{seed}.npz", scene.events)
    words = ("bench", folder, "-o", out, "--workers", "0", "--methods", "auto,eja,paper")
    code, _, stderr = stopped(words, lambda: list(out.glob("results/*.json")))
    assert code == 130
    assert stderr == f"Stopped. Results so far are in {out}; run the same command to continue.\n"
    assert not (out / "bench.html").exists()
    n_done = len(list(out.glob("results/*.json")))
    words = [sys.executable, "-m", "evcrisp", *map(str, words)]
    again = subprocess.run(words, capture_output=True, text=True, timeout=LONG_S, check=True)
    assert f"8 tasks, {8 - n_done} run now, {n_done} taken from" in again.stdout


#: A program that gets a signal inside a constructor.
HALF_BUILT = """
import signal, sys
from evcrisp.cli import main
from evcrisp.filters import Baf

class Half:
    def __init__(self, number):
        signal.raise_signal(number)
        self.whole = True

    def __del__(self):
        assert self.whole

Baf.start = lambda *args: Half(signal.Signals[sys.argv[1]])
main(sys.argv[2:])
"""


@pytest.mark.parametrize("words", ["run {} -m baf+cmax -o {}", "filter {} {}.npz"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_interrupted_constructor_prints_no_finalizer_error(recording, tmp_path, words, name):
    words = words.format(recording, tmp_path / "out").split()
    command = [sys.executable, "-c", HALF_BUILT, name, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG_S, check=False)
    assert done.returncode == 128 + signal.Signals[name]
    message = (
        f"Stopped. {words[-1]} has no new" if words[0] == "run" else "Stopped. Incomplete files"
    )
    is_printed = name == "SIGINT" or (words[0], name) == ("run", "SIGTERM")
    assert [line[: len(message)] for line in done.stderr.splitlines()] == [message] * is_printed
    assert not list(tmp_path.glob("**/*.*"))


def test_signal_handlers_are_restored(run):
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    mine = signal.getsignal(signal.SIGINT)
    try:
        run("filters")
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def test_ignored_signals_stay_ignored(tmp_path):
    # nohup starts a job with SIGHUP ignored.
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    words = ("simulate", tmp_path / "a.es", "--duration-ms", "3000")
    working = lambda: size_of(tmp_path, ".es") > 0  # noqa: E731
    code, stdout, _ = stopped(words, working, signal.SIGHUP, preexec_fn=ignore)
    assert code == 0
    assert "Wrote" in stdout
    assert (tmp_path / "a.es").exists()


def test_a_wish_ends_between_windows_and_insisting_ends_at_once():
    stop = CancellationToken()
    windows = stop.until_cancelled(iter("abc"))
    assert next(windows) == "a"
    stop.cancel()
    assert list(windows) == []
    assert stop.was_cut
    with pytest.raises(KeyboardInterrupt):
        stop.cancel()


def test_a_wish_that_comes_before_the_first_window_ends_at_once():
    # Finding out the size of the sensor may take a pass over a large file.
    with pytest.raises(KeyboardInterrupt):
        CancellationToken().cancel()


def test_a_wish_that_comes_after_the_last_window_cuts_nothing():
    stop = CancellationToken()
    assert list(stop.until_cancelled(iter("abc"))) == ["a", "b", "c"]
    stop.cancel()
    assert not stop.was_cut


def test_a_window_that_is_being_estimated_is_given_up():
    stop = CancellationToken()

    def estimates():
        yield "a"
        stop.cancel()
        yield "never"

    assert list(stop.until_cancelled(estimates())) == ["a"]
    assert stop.was_cut
