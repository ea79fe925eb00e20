"""``evcrisp run`` and ``evcrisp pareto``."""

import csv
import json

import numpy as np
import pytest

import evcrisp
from evcrisp.cli import run_page
from evcrisp.core.camera import warn_of_mismatch
from evcrisp.estimators.contrast_gain import contrast_gain


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        resolution=(160, 120), theta=(250.0, -100.0), duration_us=100_000, noise_hz=5.0, seed=4
    )


def load(path):
    with np.load(path) as archive:
        return dict(archive)


def saved(scene, path):
    evcrisp.write(path, scene.events.with_signal(None), imu=scene.imu)
    return path


def test_run_writes_the_cleaned_recording_labels_motion_and_summary(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.aedat4")
    out = tmp_path / "out"
    words = ("-m", "baf+cmax", "--window-ms", 30)
    summary = json.loads(run("run", recording, "-o", out, *words, "--json").stdout)
    assert {p.name for p in out.iterdir()} == {
        "scene.clean.aedat4",
        "labels.npz",
        "layers.csv",
        "motion.csv",
        "summary.json",
    }
    assert summary.pop("elapsed_s") > 0.0
    assert json.loads((out / "summary.json").read_text()) == summary
    labels = load(out / "labels.npz")
    assert len(labels["signal"]) == len(scene.events) == summary["n_events"]
    assert np.isfinite(labels["score"]).all()
    assert ((labels["confidence"] >= 0) & (labels["confidence"] <= 1)).all()
    with evcrisp.open(out / "scene.clean.aedat4") as clean:
        expected = scene.events[labels["signal"]].with_signal(None)
        assert clean.read().equals(expected)
        assert len(clean.imu()) == len(scene.imu)
    with (out / "motion.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == summary["n_windows"] == 4
    assert float(rows[1]["vx [px/s]"]) == pytest.approx(250.0, abs=5.0)
    assert sum(int(row["n_events"]) for row in rows) == len(scene.events)
    assert summary["statuses"]["converged"] >= 3
    assert summary["resolution"] == [160, 120]
    assert summary["windows"] == {"window_us": 30_000, "overlap": 0.0}
    assert summary["camera"] is None


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        ((), {"window": "auto", "max_latency_us": 500_000, "overlap": 0.0}),
        (("--window-ms", "auto"), {"window": "auto", "max_latency_us": 500_000, "overlap": 0.0}),
        (("--max-latency-ms", 20), {"window": "auto", "max_latency_us": 20_000, "overlap": 0.0}),
        (("--overlap", 0.5), {"window": "auto", "max_latency_us": 500_000, "overlap": 0.5}),
    ],
)
def test_events_choose_the_windows_by_default(run, scene, tmp_path, words, facts):
    recording = saved(scene, tmp_path / "scene.npz")
    out = tmp_path / "out"
    summary = json.loads(run("run", recording, "-o", out, "-m", "cmax", *words, "--json").stdout)
    assert summary["windows"] == facts
    windowing = evcrisp.Windowing(max_latency_us=facts["max_latency_us"], overlap=facts["overlap"])
    expected = list(evcrisp.track(scene.events, "cmax", windowing=windowing))
    with (out / "motion.csv").open() as file:
        starts = [int(row["t_start_us"]) for row in csv.DictReader(file)]
    assert starts == [result.window.t_start for result in expected]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--window-ms", 30, "--max-latency-ms", 100), "--window-ms and --max-latency-ms exclude"),
        (("--window-ms", "long"), "expected a finite number of milliseconds, or auto; got long"),
        (("--max-latency-ms", 0.5), "expected 1 to"),
    ],
)
def test_wrong_windows_are_refused(run, scene, tmp_path, words, message):
    recording = saved(scene, tmp_path / "scene.npz")
    assert message in run("run", recording, "-o", tmp_path / "out", *words, code=2).stderr


def test_run_labels_equal_track_labels(run, scene, tmp_path):
    """The default method has different scores and confidences."""
    recording = saved(scene, tmp_path / "scene.npz")
    run("run", recording, "-o", tmp_path / "out")
    labels = load(tmp_path / "out" / "labels.npz")
    results = list(evcrisp.track(scene.events.with_signal(None)))
    for name in ("signal", "score", "confidence"):
        expected = np.concatenate([getattr(result, name) for result in results])
        np.testing.assert_allclose(labels[name], expected, rtol=1e-6)
    with (tmp_path / "out" / "motion.csv").open() as file:
        rows = list(csv.DictReader(file))
    theta = [[float(row["vx [px/s]"]), float(row["vy [px/s]"])] for row in rows]
    np.testing.assert_array_equal(theta, [result.theta for result in results])
    assert [int(row["n_signal"]) for row in rows] == [int(r.signal.sum()) for r in results]


def test_summary_has_warnings_of_windows(run, make_events, tmp_path):
    noise = make_events(3000, resolution=(160, 120), t_start=0, duration_us=100_000)
    evcrisp.write(tmp_path / "noise.npz", noise)
    out = tmp_path / "out"
    summary = json.loads(run("run", tmp_path / "noise.npz", "-o", out, "--json").stdout)
    warnings = json.dumps(summary["warnings"])
    for result in evcrisp.track(noise):
        assert result.warnings
        assert all(warning in warnings for warning in result.warnings)
    assert json.loads((out / "summary.json").read_text())["warnings"] == summary["warnings"]


def test_run_refuses_folder_of_another_recording(run, scene, tmp_path):
    one, other = saved(scene, tmp_path / "one.npz"), saved(scene, tmp_path / "other.npz")
    out = tmp_path / "out"
    run("run", one, "-o", out, "-m", "cmax")
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    message = run("run", other, "-o", out, "-m", "cmax", "--force", code=2).stderr
    assert f"{out} holds the results of one.npz, not of other.npz." in " ".join(message.split())
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before


def test_windows_without_motion_have_nan(run, scene, tmp_path):
    events = scene.events.with_signal(None)
    t = events.t + 90_000 * (events.t > events.t[len(events) // 2])
    quiet = evcrisp.Events(x=events.x, y=events.y, t=t, p=events.p, resolution=events.resolution)
    evcrisp.write(tmp_path / "quiet.npz", quiet)
    run("run", tmp_path / "quiet.npz", "-o", tmp_path / "out", "-m", "cmax", "--window-ms", 30)
    with (tmp_path / "out" / "motion.csv").open() as file:
        rows = list(csv.DictReader(file))
    silent = [row for row in rows if row["status"] == "too_few_events"]
    assert len(silent) >= 2
    assert {(row["vx [px/s]"], row["vy [px/s]"]) for row in silent} == {("nan", "nan")}
    assert all(np.isfinite(float(row["vx [px/s]"])) for row in rows if row not in silent)


def test_motion_file_has_warnings_of_windows(run, tmp_path):
    noise = evcrisp.simulate(
        texture="dots", theta=(0.0, 0.0), resolution=(40, 30), duration_us=200_000, noise_hz=2.0, seed=2
    )  # fmt: skip
    evcrisp.write(tmp_path / "noise.npz", noise.events)
    out = tmp_path / "out"
    summary = json.loads(run("run", tmp_path / "noise.npz", "-o", out, "--json").stdout)
    with (out / "motion.csv").open() as file:
        rows = list(csv.DictReader(file))
    warnings = [row["warnings"] for row in rows if row["warnings"]]
    assert any("The motion may be chance" in warning for warning in warnings)
    assert all("chance" in row["doubts"].split() for row in rows if row["n_events"] == "0")
    assert {row["reliable"] for row in rows} == {"0"}
    assert summary["n_reliable"] == 0
    assert sum(summary["warnings"].values()) == sum(
        len(warning.split(" | ")) for warning in warnings
    )


def test_summary_has_parameters_of_method(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.npz")
    words = ("run", recording, "-o", tmp_path / "out", "-m", "exact", "--set", "b_hat=0.001")
    summary = json.loads(run(*words, "--json").stdout)
    config = summary["config"]
    assert (config["b_hat"], config["beta_hat"], config["min_support"]) == (0.001, 0.5, 6.0)
    # Equal warnings of several windows are one entry.
    (warning,) = (text for text in summary["warnings"] if "Raise `b_ea`" in text)
    assert summary["warnings"][warning] > 1


def test_run_keeps_true_labels(run, scene, tmp_path):
    evcrisp.write(tmp_path / "scene.npz", scene.events)
    run("run", tmp_path / "scene.npz", "-o", tmp_path / "out", "-m", "baf+cmax")
    kept = load(tmp_path / "out" / "labels.npz")["signal"]
    assert evcrisp.read(tmp_path / "out" / "scene.clean.npz").equals(scene.events[kept])


def test_run_keeps_existing_results_without_force(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.npz")
    run("run", recording, "-o", tmp_path / "out", "-m", "cmax")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    assert (
        "exists already"
        in run("run", recording, "-o", tmp_path / "out", "-m", "cmax", code=1).stderr
    )
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before
    run("run", recording, "-o", tmp_path / "out", "-m", "cmax", "--force")
    for name in ("labels.npz", "layers.csv", "motion.csv", "scene.clean.npz", "summary.json"):
        assert (tmp_path / "out" / name).read_bytes() == before[name]


def test_run_writes_aedat4_for_read_only_formats(run, scene, tmp_path):
    text = tmp_path / "scene.bin"
    n = 500
    words = np.zeros((n, 5), np.uint8)
    words[:, 0] = scene.events.x[:n] % 34
    words[:, 1] = scene.events.y[:n] % 34
    t = np.arange(n) * 20
    words[:, 2], words[:, 3], words[:, 4] = t >> 16, t >> 8 & 255, t & 255
    text.write_bytes(words.tobytes())
    summary = json.loads(run("run", text, "-o", tmp_path / "out", "-m", "cmax", "--json").stdout)
    assert summary["output"] == "scene.clean.aedat4"


def test_run_accepts_empty_recording(run, tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((16, 12)))
    summary = json.loads(
        run("run", tmp_path / "none.npz", "-o", tmp_path / "out", "-m", "cmax", "--json").stdout
    )
    assert (summary["n_events"], summary["n_windows"]) == (0, 0)
    assert summary["config"]["objective"] is not None
    header = (tmp_path / "out" / "motion.csv").read_text()
    assert header == (
        "t_start_us,t_end_us,n_events,n_signal,status,vx [px/s],vy [px/s],vx_std [px/s],vy_std [px/s],"
        "cov(vx vx) [px/s px/s],cov(vx vy) [px/s px/s],cov(vy vy) [px/s px/s],contrast_gain,t_ref_us,"
        "t_ref_utc,reliable,doubts,misfit,warnings\n"
    )
    assert len(load(tmp_path / "out" / "labels.npz")["signal"]) == 0


def test_wrong_options_create_no_folder(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.npz")
    out = tmp_path / "out"
    for words in (
        ("-m", "cmaxx"),
        ("--motion", "spin"),
        ("--window-ms", "5", "--window-events", "9"),
    ):
        run("run", recording, "-o", out, *words, code=2)
    assert not out.exists()


@pytest.mark.parametrize("words", [("run", "-o", "out"), ("render", "out.gif")])
def test_settings_do_not_set_arguments_of_the_function(run, scene, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    recording = saved(scene, tmp_path / "scene.npz")
    message = run(words[0], recording, *words[1:], "--set", "overwrite=true", code=2).stderr
    assert "The method 'auto' has no option 'overwrite'." in message


@pytest.mark.parametrize("command", ["run", "flow"])
def test_error_leaves_no_folder_that_was_not_there(run, scene, tmp_path, command):
    recording = saved(scene, tmp_path / "scene.npz")
    words = ("-m", "cmax", "--start", "100s")
    message = run(command, recording, "-o", tmp_path / "new" / "deep", *words, code=1).stderr
    assert "lies after the last event" in message
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    run(command, recording, "-o", tmp_path / "old", *words, code=1)
    assert (tmp_path / "old").is_dir()


def test_run_truncate_uses_events_before_damage(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.aedat4")
    data = recording.read_bytes()
    recording.write_bytes(data[: len(data) // 2])
    assert "after" in run("run", recording, "-o", tmp_path / "a", "-m", "cmax", code=1).stderr
    assert not (tmp_path / "a").exists()
    words = ("-o", tmp_path / "b", "-m", "cmax", "--on-error", "truncate")
    summary = json.loads(run("run", recording, *words, "--json").stdout)
    assert "kept the" in summary["damage"]
    assert 0 < summary["n_events"] < len(scene.events)


def test_pareto_prints_decreasing_front(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.npz")
    front = json.loads(run("pareto", recording, "--window-ms", "20", "--points", "6").stdout)
    ea = [point["cost_ea"] for point in front["points"]]
    ed = [point["cost_ed"] for point in front["points"]]
    assert ea == sorted(ea)
    assert ed == sorted(ed, reverse=True)
    chosen = front["points"][front["regret_index"]]
    assert front["is_compromise"]
    assert 0 < front["regret_index"] < len(front["points"]) - 1
    assert chosen["regret_ea"] == pytest.approx(chosen["cost_ea"] - front["ideal"]["cost_ea"])
    assert min(chosen["regret_ea"], chosen["regret_ed"]) > 0.0
    words = ("--window-ms", "20", "--points", "6", "--set", "b_hat=1000")
    assert json.loads(run("pareto", recording, *words).stdout)["regret_index"] == 0
    assert front["points"][0]["theta"] == pytest.approx([250.0, -100.0], abs=15.0)
    output = tmp_path / "front.json"
    run("pareto", recording, "--window-ms", "20", "--points", "6", "-o", output)
    assert json.loads(output.read_text()) == front
    assert "exists already" in run("pareto", recording, "-o", output, code=1).stderr


def test_run_does_not_replace_linked_input(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.npz")
    (tmp_path / "scene.clean.npz").symlink_to(recording)
    before = recording.read_bytes()
    result = run("run", recording, "-o", tmp_path, "-m", "cmax", "--force", code=1)
    assert "is the input itself" in result.stderr
    assert recording.read_bytes() == before


def test_run_keeps_dots_in_name(run, scene, tmp_path):
    for name in ("take.v1.aedat4", "take.v2.aedat4"):
        run("run", saved(scene, tmp_path / name), "-o", tmp_path / name[:7], "-m", "baf+cmax")
        assert (tmp_path / name[:7] / f"{name[:7]}.clean.aedat4").exists()


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ((160, 120), None),
        ((180, 130), None),  # principal point off by a tenth
        ((80, 60), "The principal point (40.0, 30.0) px is far from (79.5, 59.5), the middle"),
        ((240, 180), "The principal point (120.0, 90.0) px is far from"),
    ],
)
@pytest.mark.parametrize("name", ["run", "pareto", "simulate"])
def test_calibration_of_another_sensor_gives_warning(run, scene, tmp_path, size, message, name):
    calibration = tmp_path / "calib.txt"
    calibration.write_text(f"150 150 {size[0] / 2} {size[1] / 2}")
    recording = saved(scene, tmp_path / "scene.npz")
    words = {
        "run": ("run", recording, "-o", tmp_path / "out", "-m", "cmax"),
        "pareto": ("pareto", recording, "--window-ms", "5", "--points", "3"),
        "simulate": ("simulate", tmp_path / "a.npz", "--resolution", "160x120"),
    }[name]
    warn_of_mismatch.cache_clear()  # the warning is logged once per process
    printed = run(*words, "--motion", "rotation", "--camera", calibration).stderr
    if message is None:
        assert "principal point" not in printed
    else:
        assert printed.count(f"Warning: {message}") == 1


def test_unused_camera_gives_warning(scene, caplog):
    camera = evcrisp.Camera(100.0, 100.0, 80.0, 60.0)
    evcrisp.estimate(scene.events, "cmax", camera=camera)
    assert "does not use a camera" in caplog.text


def test_run_names_results_after_current_folder(run, scene, tmp_path, monkeypatch):
    folder = tmp_path / "take.columns"
    evcrisp.write(folder, scene.events)
    monkeypatch.chdir(folder)
    summary = json.loads(run("run", ".", "-o", tmp_path / "out", "-m", "cmax", "--json").stdout)
    assert summary["output"] == "take.clean.columns"


def test_current_folder_as_recording_has_its_name(run, scene, tmp_path, monkeypatch):
    for name in ("one", "other"):
        evcrisp.write(tmp_path / name, scene.events.with_signal(None), format="columns")
    monkeypatch.chdir(tmp_path / "one")
    out = tmp_path / "out"
    assert json.loads(run("run", ".", "-o", out, "-m", "cmax", "--json").stdout)["input"] == "one"
    run("run", tmp_path / "one", "-o", out, "-m", "cmax", "--force")
    monkeypatch.chdir(tmp_path / "other")
    message = run("run", ".", "-o", out, "-m", "cmax", "--force", code=2).stderr
    assert "holds the results of one, not of other" in " ".join(message.split())


def rows_of(out):
    with (out / "motion.csv").open() as file:
        return list(csv.DictReader(file))


def test_motion_file_has_covariance_gain_and_reference_time(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.npz")
    windows = evcrisp.Windowing(window_us=30_000)
    run("run", recording, "-o", tmp_path / "out", "-m", "cmax", "--window-ms", 30)
    results = list(evcrisp.track(scene.events.with_signal(None), "cmax", windowing=windows))
    for row, result in zip(rows_of(tmp_path / "out"), results, strict=True):
        found = [float(row[f"cov({pair}) [px/s px/s]"]) for pair in ("vx vx", "vx vy", "vy vy")]
        expected = result.covariance[np.triu_indices(2)]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        assert float(row["vx_std [px/s]"]) ** 2 == pytest.approx(found[0], rel=1e-4)
        assert int(row["t_ref_us"]) == result.window.t_ref
        assert row["t_ref_utc"] == ""
        assert float(row["contrast_gain"]) == pytest.approx(contrast_gain(result), rel=1e-5)


def test_motion_file_has_dates_for_unix_time(run, scene, tmp_path):
    events = scene.events.with_signal(None)
    late = evcrisp.Events(
        x=events.x,
        y=events.y,
        t=events.t + 1_643_243_628_000_000,
        p=events.p,
        resolution=(160, 120),
    )
    evcrisp.write(tmp_path / "late.npz", late)
    run("run", tmp_path / "late.npz", "-o", tmp_path / "out", "-m", "cmax", "--window-ms", 50)
    row = rows_of(tmp_path / "out")[0]
    expected = np.datetime64(int(row["t_ref_us"]), "us")
    assert row["t_ref_utc"] == f"{expected}Z"


def test_covariance_of_an_open_motion_has_all_entries(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.npz")
    run("run", recording, "-o", tmp_path / "out")
    row = rows_of(tmp_path / "out")[1]
    names = [name for name in row if name.startswith("cov(")]
    assert len(names) == 21
    assert "cov(a12 a21) [1/s 1/s]" in names
    std, variance = float(row["vx_std [px/s]"]), float(row["cov(vx vx) [px/s px/s]"])
    assert variance == pytest.approx(std**2, rel=1e-4)


def test_run_prints_a_short_page(run, scene, tmp_path):
    recording = saved(scene, tmp_path / "scene.npz")
    out = tmp_path / "out"
    page = " ".join(
        run("run", recording, "-o", out, "-m", "cmax", "--window-ms", 30).stdout.split()
    )
    summary = json.loads((out / "summary.json").read_text())
    assert f"events {len(scene.events):,} kept {summary['n_kept']:,} (" in page
    low, high = (length / 1000 for length in summary["window_length_us"])
    assert f"windows 4 of {low:.4g} to 30 ms; {summary['n_reliable']} reliable" in page
    low, high = summary["motion_range"]["vx [px/s]"]
    assert low <= 250.0 <= high
    assert f"motion vx {low:.4g} to {high:.4g} px/s, vy -" in page
    assert "models translation in 4 windows" in page
    assert f"{out}: scene.clean.npz, labels.npz, motion.csv, layers.csv, summary.json" in page


def test_page_counts_doubts_with_their_remedy(run, make_events, tmp_path):
    noise = make_events(3000, resolution=(160, 120), t_start=0, duration_us=100_000)
    evcrisp.write(tmp_path / "noise.npz", noise)
    out = tmp_path / "out"
    page = " ".join(run("run", tmp_path / "noise.npz", "-o", out).stdout.split())
    summary = json.loads((out / "summary.json").read_text())
    assert summary["doubts"]
    for code, n in summary["doubts"].items():
        doubt = next(doubt for doubt in evcrisp.Doubt if doubt.code == code)
        assert f"doubt {code} in {n} of {summary['n_windows']} window" in page
        assert doubt.value in page


def test_page_of_an_empty_recording_has_no_motion(run, tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((16, 12)))
    page = run("run", tmp_path / "none.npz", "-o", tmp_path / "out").stdout
    assert "windows         0\n" in page
    assert "motion  " not in page


def test_page_names_layers(run, tmp_path):
    from evcrisp.simulation import ObjectConfig

    thing = ObjectConfig(motion="translation", theta=(-260, 90), size=(0.3, 0.4))
    street = evcrisp.simulate(
        theta=(90, 40), objects=(thing,), duration_us=60_000, noise_hz=3.0, seed=3
    )
    evcrisp.write(tmp_path / "street.npz", street.events.between(30_000, 60_000))
    page = run("run", tmp_path / "street.npz", "-o", tmp_path / "out", "--window-ms", 30).stdout
    assert "; 2 layers in 1 window" in " ".join(page.split())
    ends = json.loads((tmp_path / "out" / "summary.json").read_text())["motion_range"]["vx [px/s]"]
    np.testing.assert_allclose(ends, (-260.0, 90.0), atol=15.0)


def test_page_shows_the_range_of_reliable_windows(run, tmp_path):
    rng = np.random.default_rng(0)
    x, y, p = (rng.integers(0, n, 3000) for n in (64, 48, 2))
    noise = evcrisp.Events(x=x, y=y, t=np.arange(3000) * 20, p=p, resolution=(64, 48))
    evcrisp.write(tmp_path / "noise.npz", noise)
    words = ("--motion", "translation", "--window-ms", 30)
    page = run("run", tmp_path / "noise.npz", "-o", tmp_path / "out", *words).stdout
    assert "px/s; doubtful in all windows" in " ".join(page.split())


@pytest.mark.parametrize(
    ("reliable", "text"),
    [
        ({"vx [px/s]": [1.0, 2.0]}, "vx 1 to 2 px/s, where it is reliable"),
        ({"vx [px/s]": [1.0, 9e3]}, "vx 1 to 9000 px/s"),
        ({}, "vx 1 to 9000 px/s; doubtful in all windows"),
    ],
)
def test_doubtful_motions_do_not_widen_the_range_of_the_page(reliable, text):
    summary = {"motion_range": {"vx [px/s]": [1.0, 9e3]}, "reliable_motion_range": reliable}
    assert run_page.motion_text(summary) == text
