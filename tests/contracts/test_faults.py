"""Faults around the program: full disks, closed pipes, inputs that change, two runs at once."""

import contextlib
import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

import evcrisp

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")

#: Time limit, s: far above the usual duration, so that only a hanging program fails.
LONG_S = 300
RUN = ("-m", "cmax", "--motion", "translation")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "scene.aedat4"
    scene = evcrisp.simulate(resolution=(96, 72), duration_us=200_000, noise_hz=20.0, seed=4)
    events = scene.events
    evcrisp.write(path, evcrisp.Events(x=events.x, y=events.y, t=events.t, p=events.p,
                                       resolution=events.resolution))  # fmt: skip
    return path


def program(*words, **options):
    command = [sys.executable, "-m", "evcrisp", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=LONG_S, check=False, **options
    )


def small_files():
    """Limit files to 20 kB, as a full disk would; Python ignores the signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def hidden_and_visible(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("convert {i} {o}/a.raw", "{o}/a.raw"),
        ("filter {i} {o}/a.aedat4 --labels {o}/l.npz", "{o}/"),
        ("live {i} -o {o}/a.aedat4 -m baf --speed max", "{o}/a.aedat4"),
        ("run {i} -o {o} -m cmax --motion translation", "{o}/"),
        ("simulate {o}/a.npz --duration-ms 30", "{o}/a.npz"),
    ],
)
def test_full_disk_is_one_message_and_leaves_nothing(recording, tmp_path, words, named):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    done = program(
        *words.format(i=recording, o=tmp_path).split(), preexec_fn=small_files, env=environment
    )
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1, done.stderr
    assert last.startswith(f"Error: {named.format(o=tmp_path)}"), done.stderr
    assert "File too large" in last
    assert "Traceback" not in done.stderr
    assert hidden_and_visible(tmp_path) == []


def test_full_disk_keeps_old_results(recording, tmp_path):
    old = {"a.aedat4": b"old", "l.npz": b"labels"}
    for name, content in old.items():
        (tmp_path / name).write_bytes(content)
    words = "filter", recording, tmp_path / "a.aedat4", "--labels", tmp_path / "l.npz", "--force"
    assert program(*words, preexec_fn=small_files).returncode == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old


def test_closed_pipe_ends_live_quietly_and_keeps_the_file(recording, tmp_path):
    words = ["live", str(recording), "-o", "-", "-o", str(tmp_path / "a.aedat4"), "-m", "raw"]
    command = [sys.executable, "-m", "evcrisp", *words, "--speed", "max"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(1000)
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(LONG_S) == 1
    assert "Traceback" not in errors
    kept, whole = evcrisp.read(tmp_path / "a.aedat4"), evcrisp.read(recording)
    assert 0 <= len(kept) < len(whole)
    assert kept.equals(whole[: len(kept)])
    assert [path.name for path in tmp_path.iterdir()] == ["a.aedat4"]


def test_input_that_shrinks_or_grows_is_damage_with_the_events_before_it(recording, tmp_path):
    data = recording.read_bytes()
    path = tmp_path / "a.aedat4"
    path.write_bytes(data)
    whole = evcrisp.read(path)
    for change in (lambda: os.truncate(path, len(data) // 2), lambda: path.write_bytes(data * 2)):
        path.write_bytes(data)
        with evcrisp.open(path) as opened:
            chunks = opened.chunks(1000)
            got = [next(chunks)]
            change()
            with contextlib.suppress(evcrisp.FormatError):
                got += chunks
        events = evcrisp.Events.concatenate(got)
        assert events.equals(whole[: len(events)])


def test_input_that_vanishes_while_it_is_read_is_read_to_its_end(recording, tmp_path):
    path = tmp_path / "a.aedat4"
    path.write_bytes(recording.read_bytes())
    with evcrisp.open(path) as opened:
        chunks = opened.chunks(1000)
        got = [next(chunks)]
        path.unlink()
        got += chunks
    assert evcrisp.Events.concatenate(got).equals(evcrisp.read(recording))


def test_two_runs_on_one_folder_leave_the_results_of_one(recording, tmp_path):
    other = tmp_path / "other" / recording.name
    other.parent.mkdir()
    events = evcrisp.read(recording)
    evcrisp.write(other, events[: len(events) // 2])
    out = tmp_path / "out"
    commands = [
        [sys.executable, "-m", "evcrisp", "run", str(path), "-o", str(out), *RUN]
        for path in (recording, other)
    ]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for command in commands
    ]
    messages = [process.communicate(timeout=LONG_S)[1] for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 1], messages
    assert "Traceback" not in "".join(messages)
    winner = (recording, other)[codes.index(0)]
    with np.load(out / "labels.npz") as labels:
        signal_ = labels["signal"]
    assert evcrisp.read(out / "scene.clean.aedat4").equals(evcrisp.read(winner)[signal_])
    assert not [path for path in out.iterdir() if path.name.startswith(".")]
