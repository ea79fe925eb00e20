"""The example package adds a filter, an estimator and a metric to every command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import evcrisp

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[3] / "docs" / "plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return the folder into which the example package is installed."""
    folder = tmp_path_factory.mktemp("site")
    command = (
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
        "--disable-pip-version-check", "--target", folder, EXAMPLE,
    )  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert list(folder.glob("evcrisp_example-*.dist-info/entry_points.txt"))
    return folder


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """Return a recording of one moving edge with noise."""
    simulated = evcrisp.simulate(
        resolution=(64, 48), theta=(200.0, 0.0), duration_us=60_000, noise_hz=3.0, seed=7
    )
    path = tmp_path_factory.mktemp("scene") / "scene.npz"
    evcrisp.write(path, simulated.events)
    return path


@pytest.fixture
def program(installed):
    """Return a function that runs a command, or a program, in a process with the package."""

    def run(*words, code=None):
        start = ("-c", code) if code is not None else ("-m", "evcrisp", *words)
        environment = {**os.environ, "PYTHONPATH": str(installed)}
        result = subprocess.run(
            [sys.executable, *map(str, start)],
            capture_output=True, text=True, check=False, env=environment,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


def test_lists_show_the_installed_parts(program):
    assert "grid" in program("filters")
    assert "centroid" in program("methods")


def test_run_uses_the_installed_estimator(program, scene, tmp_path):
    program("run", scene, "-o", tmp_path / "out", "--method", "centroid", "--set", "min_events=20")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["method"] == "centroid"
    assert summary["config"]["min_events"] == 20
    assert summary["n_kept"] == summary["n_events"] > 0


def test_filter_and_evaluate_use_the_installed_parts(program, scene, tmp_path):
    clean = tmp_path / "clean.npz"
    program("filter", scene, clean, "--method", "grid", "--set", "tau_us=3000")
    raw, kept = evcrisp.read(scene), evcrisp.read(clean)
    assert 0 < len(kept) < len(raw)
    quality = json.loads(program("evaluate", clean, "--json"))["quality"]["recording"]
    assert quality["on_share"] == pytest.approx(kept.p.mean())
    assert "ON share" in program("evaluate", clean)


def test_reproduce_has_rows_of_the_installed_methods(program, tmp_path):
    program(
        "reproduce", "table1", "--small", "-o", tmp_path, "--methods", "grid,raw",
        "--max-events", "3000", "--workers", "0",
    )  # fmt: skip
    table = next(tmp_path.rglob("table1.csv")).read_text()
    assert "table1,grid," in table
    assert "table1,raw," in table


def test_viewer_menus_list_the_installed_parts(program, scene):
    code = (
        "from evcrisp.viewer import export_html, ExportOptions; import evcrisp\n"
        f"events = evcrisp.read({str(scene)!r})\n"
        "options = ExportOptions(methods=('centroid',), filters=('grid',), n_windows=1, front_points=0)\n"
        "page = export_html(events, options)\n"
        "print('estimate:centroid' in page, 'filter:grid' in page)"
    )
    assert program(code=code).split() == ["True", "True"]


def test_broken_package_is_left_out_with_a_warning(installed, scene, tmp_path):
    broken = tmp_path / "broken"
    info = broken / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[evcrisp.filters]\nbroken = no_such_module:Thing\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(broken), str(installed)))}
    result = subprocess.run(
        [sys.executable, "-m", "evcrisp", "filters"],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert result.returncode == 0
    assert "broken" in result.stderr
    assert "is left out" in result.stderr
    assert "grid" in result.stdout
    assert "baf" in result.stdout


def test_filter_of_the_package_is_causal_from_window_to_window(installed, scene, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))
    from evcrisp_example import Grid

    events = evcrisp.read(scene)
    whole = evcrisp.denoise(events, Grid()).signal
    parts = [events[:700], events[700:701], events[701:]]
    stream = Grid().start(events.resolution)
    joined = np.concatenate([stream.label(part).signal for part in parts])
    np.testing.assert_array_equal(joined, whole)
