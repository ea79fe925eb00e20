"""The exported page, and the files of the page."""

import base64
import gzip
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import evcrisp
from evcrisp import ConfigError, OutputError, UnknownNameError
from evcrisp.cli import main
from evcrisp.viewer import ExportOptions, export, export_html
from evcrisp.viewer.bundle_format import read_bundle, write_bundle
from evcrisp.viewer.page import static_files
from evcrisp.viewer.page_size import LEVELS, fitted

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


@pytest.mark.parametrize("n_events", [1, 2])
def test_page_of_one_moment_has_its_window(n_events):
    columns = dict.fromkeys("xyp", [1] * n_events)
    events = evcrisp.Events(**columns, t=[7] * n_events, resolution=(8, 4))
    (window,) = settings_of(export_html(events, n_windows=1, front_points=0))["windows"]
    _, arrays = bundle_of(export_html(events, n_windows=1, front_points=0), window["events"])
    assert len(arrays["dt"]) == n_events


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
    with pytest.raises(ConfigError, match="`max_window_kb`"):
        ExportOptions(max_window_kb=3)
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


def hd_events(n_windows=1):
    """Return structure and noise on 1280 x 720 px, 100 000 events in each 10 ms."""
    rng = np.random.default_rng(2)
    n = 100_000 * n_windows
    t = np.sort(rng.integers(0, 10_000 * n_windows, n))
    is_noise = rng.random(n) < 0.3
    x = np.where(is_noise, rng.integers(0, 1280, n), 40 * rng.integers(1, 30, n) + t // 4_000)
    return evcrisp.Events(
        x=x, y=rng.integers(0, 720, n), t=t, p=rng.integers(0, 2, n), resolution=(1280, 720)
    )


@pytest.mark.slow
def test_page_of_eight_windows_of_1280x720_has_at_most_6_mb():
    page = export_html(
        hd_events(8), window_us=10_000, methods=("cmax",), motion="translation", front_points=0
    )
    windows = settings_of(page)["windows"]
    assert len(windows) == 8
    counts = [bundle_of(page, window["events"])[0]["n_events"] for window in windows]
    assert min(counts) > 90_000
    assert 1_500_000 < len(page.encode()) <= 6_000_000


@pytest.mark.slow
def test_eight_windows_of_1280x720_with_fronts_need_at_most_6_mb():
    defaults = ExportOptions()
    options = ExportOptions(
        window_us=10_000, n_windows=1, methods=("cmax",), motion="translation", front_points=3
    )
    page = export_html(hd_events(), options)
    (window,) = settings_of(page)["windows"]
    blobs = [name for name in window.values() if str(name).startswith("blob")]
    sizes = [len(re.search(rf'id="{name}">(.*?)</script>', page, re.S).group(1)) for name in blobs]
    assert len(blobs) >= 5
    limit = 1000 * options.max_window_kb
    assert 0.3 * limit < sum(sizes) <= limit
    # Any eight windows have these sizes, and the page is the same.
    rest = len(page) - sum(sizes)
    assert rest + defaults.n_windows * 1000 * defaults.max_window_kb <= 6_000_000
    facts, arrays = bundle_of(page, window["events"])
    result, more = bundle_of(page, window["estimate:cmax"])
    # Fewer events are drawn; the numbers are those of all events.
    assert facts["step"] == result["step"] == window["step"] > 1
    assert arrays["pixels"].size == -(-facts["n_events"] // facts["step"]) == more["flags"].size
    assert facts["n_events"] == result["n_events"] == 100_000
    factor = result["map_factor"]
    assert more["map_after"].size == -(-1280 // factor) * -(-720 // factor)


def test_small_windows_are_exported_completely(scene):
    page = export_html(scene.events, ExportOptions(**QUICK))
    window = settings_of(page)["windows"][0]
    facts, _ = bundle_of(page, window["estimate:auto"])
    assert window["step"] == facts["step"] == 1
    assert "map_factor" not in facts


@pytest.mark.parametrize("max_bytes", [1, 30_000, 200_000, 10**9])
def test_bundles_are_thinned_until_they_fit(scene, max_bytes):
    events = scene.events
    arrays = {"pixels": events.x.astype(np.uint32), "dt": events.t.astype(np.uint32)}
    maps = {"w": np.random.default_rng(0).integers(0, 255, 128 * 96).astype(np.uint8)}
    bundles = {
        "events": write_bundle({"step": 1}, arrays),
        "map": write_bundle({"step": 1, "width": 128, "height": 96}, maps),
        "front": write_bundle({"kind": "front"}, {}),
    }
    texts, step = fitted(bundles, max_bytes)
    assert list(texts) == list(bundles)
    total = sum(map(len, texts.values()))
    assert total <= max_bytes or step == LEVELS[-1][0]
    assert (step == 1) == (max_bytes >= 200_000)


def test_command_tells_size_and_time(recording, tmp_path):
    page = tmp_path / "page.html"
    words = ["view", str(recording), "--export", str(page), "--window-ms", "20", "--windows", "1"]
    result = CliRunner().invoke(main, [*words, "--front-points", "0"])
    size = page.stat().st_size
    assert re.search(rf": {size / 1e6:.1f} MB, in \d+ s\. Open it", result.output), result.output


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
