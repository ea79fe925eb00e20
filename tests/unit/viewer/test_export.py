"""The exported page, and the files of the page."""

import base64
import gzip
import json
import re

import pytest
from click.testing import CliRunner

import evcrisp
from evcrisp import ConfigError, OutputError, UnknownNameError
from evcrisp.cli import main
from evcrisp.viewer import ExportOptions, export, export_html
from evcrisp.viewer.bundle_format import read_bundle
from evcrisp.viewer.page import static_files

QUICK = {"window_us": 20_000, "n_windows": 3, "front_points": 0}


def settings_of(page):
    return json.loads(re.search(r'id="settings">(.*?)</script>', page, re.S).group(1))


def bundle_of(page, name):
    text = re.search(rf'id="{name}">(.*?)</script>', page, re.S).group(1)
    return read_bundle(gzip.decompress(base64.b64decode(text)))


def test_page_contains_events_and_labels_of_its_windows(scene, tracked_window):
    page = export_html(scene.events, ExportOptions(filters=("baf",), **QUICK))
    windows = settings_of(page)["windows"]
    t_first = int(scene.events.t[0])
    last = scene.events.duration_us + 1 - 20_000
    assert [window["start_us"] for window in windows] == [0, last // 2, last]
    for window in windows:
        t_start = t_first + window["start_us"]
        events = scene.events.between(t_start, t_start + 20_000)
        _, arrays = bundle_of(page, window["events"])
        assert (arrays["dt"].astype(int) + t_start).tolist() == events.t.tolist()
        result = tracked_window(scene.events, window["start_us"], 20_000)
        facts, arrays = bundle_of(page, window["estimate:auto"])
        assert arrays["flags"].tolist() == result.signal.tolist()
        assert facts["theta"] == pytest.approx(result.theta.tolist())
        assert "filter:baf" in window


def test_same_events_give_the_same_page(scene):
    events = scene.events[:5_000]
    options = ExportOptions(window_us=10_000, n_windows=1, front_points=3)
    assert export_html(events, options) == export_html(events, options)


def test_page_of_a_path_equals_page_of_the_open_recording(recording):
    with evcrisp.open(recording) as opened:
        expected = export_html(opened, ExportOptions(**QUICK))
    assert export_html(str(recording), **QUICK) == expected


def test_names_are_escaped_in_the_page(scene):
    name = "</title></script><script>alert(1)</script>&{{blobs}}"
    page = export_html(scene.events[:2_000], ExportOptions(**QUICK), name=name)
    assert "<script>alert" not in page
    assert settings_of(page)["name"] == name


@pytest.mark.parametrize("n", [0, 1, 100])
def test_page_of_few_events_has_one_window(scene, n):
    page = export_html(scene.events[:n], ExportOptions(window_us=20_000, front_points=3))
    assert settings_of(page)["facts"]["n_events"] == n
    assert len(settings_of(page)["windows"]) == 1


def test_invalid_options_raise():
    with pytest.raises(UnknownNameError, match="Unknown method 'magic'"):
        ExportOptions(methods=("magic",))
    with pytest.raises(UnknownNameError, match="Unknown filter"):
        ExportOptions(filters=("magic",))
    with pytest.raises(ConfigError, match="`n_windows`"):
        ExportOptions(n_windows=0)
    with pytest.raises(ConfigError, match="at least one method"):
        ExportOptions(methods=())
    with pytest.raises(ConfigError, match="`front_points` must be"):
        ExportOptions(front_points=2)


def test_existing_page_is_kept_unless_overwrite_is_set(scene, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        export(scene.events, path, ExportOptions(**QUICK))
    assert path.read_text() == "mine"
    export(scene.events, path, ExportOptions(**QUICK), overwrite=True)
    assert path.read_text().startswith("<!doctype html>")


def test_on_window_is_called_after_each_window(scene):
    seen = []
    export_html(scene.events, ExportOptions(**QUICK), on_window=lambda *counts: seen.append(counts))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_command_writes_a_page(recording, tmp_path):
    page = tmp_path / "page.html"
    words = ["view", str(recording), "--export", str(page), "--window-ms", "20", "--windows", "2"]
    result = CliRunner().invoke(main, [*words, "--front-points", "3", "--filter", "baf"])
    assert result.exit_code == 0, result.output
    assert "MB" in result.output
    settings = settings_of(page.read_text())
    assert settings["name"] == recording.name
    assert settings["choices"] == {
        "methods": ["auto"],
        "motions": ["auto"],
        "filters": ["baf"],
    }
    assert "point:0" in settings["windows"][0]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--method", "magic"], 2),
        (["--window-ms", "0"], 2),
        (["--windows", "0"], 2),
        (["--windows", "501"], 2),
        (["--port", "99"], 2),
        (["--no-browser"], 2),
    ],
)
def test_command_refuses_invalid_options(recording, tmp_path, words, code):
    page = tmp_path / "page.html"
    result = CliRunner().invoke(main, ["view", str(recording), "--export", str(page), *words])
    assert result.exit_code == code, result.output
    assert not page.exists()


def test_command_refuses_options_without_effect(run, recording, tmp_path):
    page = tmp_path / "page.html"
    words = ("view", recording, "--export", page)
    assert "--port is not for --export." in run(*words, "--port", 99, code=2).stderr
    assert "--no-browser is not for --export." in run(*words, "--no-browser", code=2).stderr
    for more in (("--windows", 3), ("--front-points", 5), ("--force",)):
        result = run("view", recording, "--no-browser", *more, code=2)
        assert f"{more[0]} is only for --export." in result.stderr


def test_page_needs_an_html_suffix(run, recording, tmp_path):
    message = run("view", recording, "--export", tmp_path / "page.txt", code=2).stderr
    assert "'--export': expected a name that ends in .html or .htm; got" in message


def test_recording_without_events_gives_an_error_and_no_page(run, tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    page = tmp_path / "page.html"
    message = run("view", tmp_path / "none.npz", "--export", page, code=1).stderr
    assert "has no events, and so there is nothing to show." in message
    assert not page.exists()


def test_command_fails_at_once_for_an_unreadable_file(tmp_path):
    path = tmp_path / "noise.xyz"
    path.write_bytes(bytes(range(256)))
    result = CliRunner().invoke(main, ["view", str(path), "--no-browser"])
    assert result.exit_code in (1, 2)
    assert "noise.xyz" in result.output


def test_page_files_have_no_foreign_addresses_and_all_imports_exist():
    files = static_files()
    for name, data in files.items():
        text = data.decode().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.[a-z]", text), name
        for module in re.findall(r'from "evcrisp/([\w/]+)"', text):
            assert f"{module}.js" in files
