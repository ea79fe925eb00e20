"""``evcrisp run`` with several recordings."""

import json
import shutil
import signal
import subprocess
import sys
import time

import pytest

import evcrisp

#: Time limit, s: far above the usual duration, so that only a hanging program fails.
LONG_S = 120


@pytest.fixture
def data(scene_file, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("a.npz", "b.npz"):
        shutil.copy(scene_file, folder / name)
    return folder


def test_several_recordings_have_a_folder_each(run, data, tmp_path):
    out = tmp_path / "out"
    words = ("run", data / "a.npz", data / "b.npz", "-o", out, "-m", "baf+cmax", "--jobs", 0)
    page = run(*words).stdout
    assert page.startswith("recordings      2 of 2\n")
    assert {path.name for path in out.iterdir()} == {"a", "b", "finished.jsonl", "summary.json"}
    assert (out / "a" / "a.clean.npz").is_file()
    again = run(*words).stdout
    assert "unchanged       earlier results of 2 recordings, with the same settings" in again
    summary = json.loads(run(*words, "--force", "--json").stdout)
    assert summary["reused"] == []
    assert summary["totals"]["n_events"] == 2 * len(evcrisp.read(data / "a.npz"))


@pytest.mark.parametrize(
    "words", [("{data}",), ("{data}/*.npz",), ("{data}/a.npz", "{data}/b.npz")]
)
def test_folders_and_patterns_name_recordings(run, data, tmp_path, words):
    given = [word.format(data=data) for word in words]
    run("run", *given, "-o", tmp_path / "out", "-m", "baf+cmax", "-j", 0)
    assert (tmp_path / "out" / "b" / "summary.json").is_file()


def test_one_recording_has_its_results_in_the_folder_itself(run, data, tmp_path):
    run("run", data / "a.npz", "-o", tmp_path / "one", "-m", "baf+cmax")
    run("run", data / "a.npz", "-o", tmp_path / "many", "-m", "baf+cmax", "--jobs", 0)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "many" / "a" / path.name).read_bytes()


def test_failures_are_listed_with_options_and_the_exit_code_is_1(run, data, tmp_path):
    (data / "c.raw").write_bytes(b"")
    words = ("run", data / "a.npz", data / "c.raw", "-o", tmp_path / "out", "-m", "baf+cmax")
    result = run(*words, "-j", 0, code=1)
    assert "recordings      1 of 2" in result.stdout
    assert "1 recording of 2 failed:\n  c: " in result.stderr
    assert "the file is empty" in result.stderr
    run("run", data / "a.npz", "-o", tmp_path / "out", "-m", "cmax", "-j", 0, code=1)
    assert "--force" in run(*words[:2], *words[3:5], "-m", "cmax", "-j", 0, code=1).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("{data}/a.npz", "missing.npz"), "Path 'missing.npz' does not exist."),
        (("{data}", "-m", "nothing"), "Unknown method 'nothing'"),
        (("{data}", "-m", "stcf"), "is a filter, which finds no motion"),
        (("{data}", "--motion", "nothing"), "Unknown motion model"),
        (("{data}", "--jobs", "-1"), "--jobs"),
        (("{data}", "--window-ms", "30", "--max-latency-ms", "100"), "exclude each other"),
    ],
)
def test_wrong_usage_has_exit_code_2(run, data, tmp_path, words, message):
    given = [word.format(data=data) for word in words]
    assert message in run("run", *given, "-o", tmp_path / "out", code=2).stderr
    assert not (tmp_path / "out").exists()


def is_finished(out):
    """Return whether the first recording is finished."""
    journal = out / "finished.jsonl"
    return journal.exists() and '"facts"' in journal.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_batch_leaves_no_partial_files_and_continues(tmp_path, data, number):
    scene = evcrisp.simulate(resolution=(160, 120), duration_us=2_000_000, noise_hz=5.0, seed=4)
    evcrisp.write(data / "long.npz", scene.events)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "evcrisp", "run", str(data), "-o", str(out), "-j", "2"]
    command += ["-m", "paper", "--window-ms", "10"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + LONG_S
        while not (is_finished(out) and list(out.glob("long/.part-*"))):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "the program did not start to work"
            time.sleep(0.01)
        process.send_signal(number)
        _, messages = process.communicate(timeout=LONG_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 128 + number
    assert "Traceback" not in messages
    if number == signal.SIGINT:
        assert f"recordings are finished in {out}; run the same command to continue." in messages
    assert not list(out.rglob(".part-*"))
    assert not (out / "summary.json").exists()
    (data / "long.npz").unlink()
    result = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=LONG_S)
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)["reused"]) >= 1
