"""``evcrisp demo``: table, picture, scene."""

import sys

import pytest

import evcrisp


def test_demo_saves_scene_and_prints_view_command(run, tmp_path):
    assert "evcrisp demo --save" in run("demo").stdout.splitlines()[-1]
    scene = tmp_path / "scene.npz"
    assert f"evcrisp view {scene}" in run("demo", "--save", scene).stdout.splitlines()[-1]
    assert evcrisp.read(scene).signal is not None


def test_demo_prints_table_and_saves_picture(run, tmp_path):
    picture = tmp_path / "demo.png"
    lines = run("demo", "--picture", picture).stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("method"))
    names = ["method", "kept", "sensitivity", "specificity", "AUC", "motion", "error", "px", "ms"]
    assert lines[start].split() == names
    rows = {line.split()[0]: line.split() for line in lines[start + 1 :] if line[:1].isalpha()}
    assert list(rows)[:5] == ["raw", "baf+cmax", "eja", "exact", "auto"]
    assert float(rows["raw"][2]) == 1.0
    sensitivity, specificity, auc, error_px = map(float, rows["auto"][2:6])
    assert sensitivity > 0.95
    assert specificity > 0.9
    assert auc > max(float(rows[name][4]) for name in ("baf+cmax", "eja", "exact"))
    assert error_px < 0.1
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_checks_matplotlib_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # behaves like a missing package
    result = run("demo", "--picture", tmp_path / "a.png", code=1)
    assert result.stdout == ""
    assert "Figures need the package 'matplotlib'" in result.stderr


@pytest.mark.parametrize("words", [("--picture", "mine.png"), ("--save", "mine.npz")])
def test_demo_checks_outputs_before_the_work(run, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / words[1]).write_text("mine")
    result = run("demo", *words, code=1)
    assert result.stdout == ""
    assert "exists already. Replace it with --force." in result.stderr
    assert "No output format has the suffix" in run("demo", "--save", "a.xyz", code=2).stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_demo_keeps_existing_picture_and_checks_suffix(run, tmp_path):
    (tmp_path / "mine.png").write_text("mine")
    assert "exists already" in run("demo", "--picture", tmp_path / "mine.png", code=1).stderr
    assert "must end in" in run("demo", "--picture", tmp_path / "a.xyz", code=2).stderr
    run("demo", "--picture", tmp_path / "a.svg")
    first = (tmp_path / "a.svg").read_bytes()
    run("demo", "--picture", tmp_path / "a.svg", "--force")
    assert b"<svg" in first
