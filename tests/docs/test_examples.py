"""Every example runs, and does what it says."""

import subprocess
import sys
from pathlib import Path

import pytest

import evcrisp

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name, *words):
    command = [sys.executable, EXAMPLES / name, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "scene.npz"
    simulated = evcrisp.simulate(resolution=(120, 90), duration_us=40_000, noise_hz=20, seed=2)
    evcrisp.write(path, simulated.events)
    return path


def test_clean_recording_keeps_mostly_signal(scene, tmp_path):
    assert "kept" in run("clean_recording.py", scene, tmp_path / "clean.npz")
    before, after = evcrisp.read(scene), evcrisp.read(tmp_path / "clean.npz")
    assert 0 < len(after) < len(before)
    assert after.signal.mean() > before.signal.mean()


def test_event_rate_counts_every_event(scene):
    lines = run("event_rate.py", scene).splitlines()
    total = sum(float(line.split()[2].replace(",", "")) for line in lines) * 10
    assert total == pytest.approx(len(evcrisp.read(scene)), abs=0.5 * len(lines))


def test_measure_a_filter_prints_a_row_per_rate():
    lines = run("measure_a_filter.py").splitlines()
    assert len(lines) == 4
    assert all(0.5 < float(line.split()[-1]) <= 1 for line in lines[1:])


def test_every_example_is_tested():
    tested = Path(__file__).read_text()
    for example in EXAMPLES.glob("*.py"):
        assert f'"{example.name}"' in tested
