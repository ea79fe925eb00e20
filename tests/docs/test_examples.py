"""Every example runs and prints the documented results."""

import subprocess
import sys
from pathlib import Path

import pytest

import evcrisp
from evcrisp.simulation import ObjectConfig

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


def test_follow_objects_prints_and_draws_both_objects(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    shape = {"size": (0.34, 0.46), "texture": "rocks"}
    objects = (
        ObjectConfig(theta=(250, 30), center=(0.25, 0.3), **shape),
        ObjectConfig(theta=(-250, -40), center=(0.75, 0.7), **shape),
    )
    simulated = evcrisp.simulate(
        resolution=(200, 150), theta=(0, 0), objects=objects, contrast=2.5, c_on=0.25, c_off=0.25,
        duration_us=60_000, noise_hz=2.0, seed=7,
    )  # fmt: skip
    evcrisp.write(tmp_path / "objects.npz", simulated.events)
    printed = run("follow_objects.py", tmp_path / "objects.npz", tmp_path / "layers.png")
    # Both numbers appear in both windows.
    assert [printed.count(f"layer {number}:") for number in (0, 1)] == [2, 2]
    assert (tmp_path / "layers.png").read_bytes().startswith(b"\x89PNG")


def test_every_example_is_tested():
    tested = Path(__file__).read_text()
    for example in EXAMPLES.glob("*.py"):
        assert f'"{example.name}"' in tested
