"""``evcrisp live`` from the shell."""

import csv
import json
import signal
import subprocess
import sys
import time

import pytest

import evcrisp

#: Time limit, s: far above the usual duration, so that only a hanging program fails.
LONG_S = 120
PROGRAM = [sys.executable, "-m", "evcrisp", "live"]


def run(*words, **options):
    options = {"capture_output": True, "timeout": LONG_S, "check": False, **options}
    return subprocess.run([*PROGRAM, *map(str, words)], **options)


def test_raw_copies_a_recording(sample, tmp_path):
    out = tmp_path / "b.aedat4"
    done = run(sample, "-o", out, "-m", "raw", "--json", "--speed", "max")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["n_events"], facts["n_kept"], facts["n_dropped"]) == (1000, 1000, 0)
    assert facts["latency_p50_ms"] <= facts["latency_p95_ms"]
    assert evcrisp.read(out).equals(evcrisp.read(sample))


def test_pipe_of_two_programs(sample, tmp_path):
    first = run(sample, "-o", "-", "-m", "raw")
    second = run("-", "-o", tmp_path / "b.npz", "-m", "raw", input=first.stdout)
    assert second.returncode == 0, second.stderr
    assert b"1,000 events" in first.stderr
    assert b"1,000 events" in second.stdout
    assert evcrisp.read(tmp_path / "b.npz").equals(evcrisp.read(sample))


def test_method_writes_motion_of_windows(scene_file, tmp_path):
    table = tmp_path / "motion.csv"
    words = ("--motion", "translation", "--max-latency-ms", 30, "--motion-file", table, "--json")
    done = run(scene_file, "-o", tmp_path / "b.npz", "--speed", "max", *words)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == json.loads(done.stdout)["n_windows"] >= 3
    assert abs(float(rows[1]["vx [px/s]"]) - 250.0) < 25.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "baf", "--motion-file", "m.csv"), "is a filter"),
        (("--speed", "0"), "speed"),
        (("-m", "bafff"), "bafff"),
        (("-o", "tcp://0.0.0.0:9"), "--bind 0.0.0.0"),
        (("-o", "udp://"), "tcp://HOST:PORT"),
    ],
)
def test_wrong_usage(sample, tmp_path, words, message):
    done = run(sample, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.decode()


def test_absent_source_is_a_message():
    done = run("tcp://127.0.0.1:1", "-m", "raw")
    assert done.returncode == 1
    assert b"cannot be reached" in done.stderr
    assert b"Traceback" not in done.stderr
    assert run("no_such_file.npz").returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
# `timeout` signals the program, and then its group: the same request comes twice.
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_complete_files(sample, tmp_path, number, times):
    out = tmp_path / "b.npz"
    words = (sample, "-o", out, "-m", "raw", "--speed", "0.001", "--json")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([*PROGRAM, *map(str, words)], **pipes)
    try:
        assert any(b"Live" in line for line in iter(process.stderr.readline, b""))
        time.sleep(0.1)
        for _ in range(times):
            process.send_signal(number)
            time.sleep(0.03)
        printed, messages = process.communicate(timeout=LONG_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 128 + number, messages
    assert b"complete" in messages
    assert len(evcrisp.read(out)) == json.loads(printed)["n_kept"] < 1000
