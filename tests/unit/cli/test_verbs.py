"""The command line in process: exit codes, streams, messages."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import numpy as np
import pytest

import evcrisp
from evcrisp.cli import VERBS, main
from evcrisp.core.sensor_data import Imu


@pytest.fixture
def sample(make_events, tmp_path):
    path = tmp_path / "sample.npz"
    evcrisp.write(path, make_events(1000))
    return path


def test_info_prints_the_facts_as_json(run, sample, make_events):
    facts = json.loads(run("info", sample, "--json").stdout)
    events = make_events(1000)
    assert facts["format"] == "npz"
    assert (facts["width"], facts["height"]) == (346, 260)
    assert (facts["n_events"], facts["n_on"], facts["n_off"]) == (
        1000,
        events.n_on,
        1000 - events.n_on,
    )
    assert (facts["t_first_us"], facts["t_last_us"]) == (events.t[0], events.t[-1])
    assert facts["duration_s"] == pytest.approx(events.duration_us / 1e6)
    assert facts["imu_samples"] == 0


def test_info_of_no_events_has_no_times(run, tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    facts = json.loads(run("info", tmp_path / "none.npz", "--json").stdout)
    assert (facts["n_events"], facts["t_first_us"], facts["duration_s"]) == (0, None, 0.0)
    assert "events" in run("info", tmp_path / "none.npz").stdout


def test_info_for_people_names_format_and_counts(run, sample):
    page = run("info", sample).stdout
    for word in ("npz", "346 x 260 px", "1,000", "% ON", "thousand events/s"):
        assert word in page


def test_info_for_people_counts_the_labels(run, sample, make_events, tmp_path):
    assert "signal / noise" not in run("info", sample).stdout
    labeled = make_events(1000).with_signal(np.arange(1000) < 250)
    evcrisp.write(tmp_path / "labeled.npz", labeled)
    page = run("info", tmp_path / "labeled.npz").stdout
    assert re.search(r"^signal / noise +250 / 750 \(25.0% signal\)$", page, re.M)


@pytest.mark.parametrize(
    ("t", "said"),
    [
        ([7], "-"),
        ([7, 7], "-"),
        ([0, 1_000_000], "2 events/s"),
        ([0, 600_000_000], "0.00333 events/s"),
        ([0, 2_001], "1000 events/s"),
        ([0, 1_000], "2.0 thousand events/s"),
        ([0, 1], "2.0 million events/s"),
    ],
)
def test_info_gives_rates_in_units_that_fit(run, tmp_path, t, said):
    n = len(t)
    events = evcrisp.Events(x=[0] * n, y=[0] * n, t=t, p=[1] * n, resolution=(8, 4))
    evcrisp.write(tmp_path / "slow.npz", events)
    page = run("info", tmp_path / "slow.npz").stdout
    assert re.search(rf"^rate +{said}$", page, re.M), page


def test_a_damaged_file_ends_with_one_line_and_code_1(run, sample):
    sample.write_bytes(sample.read_bytes()[:-40])
    result = run("info", sample, code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert str(sample) in result.stderr


@pytest.mark.parametrize("name", ["a.npz", "a.zip"])
def test_an_archive_that_is_cut_short_is_called_so(run, sample, tmp_path, name):
    path = tmp_path / name
    run("convert", sample, path)
    path.write_bytes(path.read_bytes()[:-40])
    message = run("info", path, code=1).stderr
    assert "cut short; copy it again (its directory is missing)" in message
    assert "not a zip" not in message
    labels = tmp_path / "labels.npz"
    np.savez(labels, signal=np.ones(1000, bool))
    labels.write_bytes(labels.read_bytes()[:-40])
    message = run("evaluate", sample, "--labels", labels, "--no-aocc", code=1).stderr
    assert "the archive is cut short" in message


@pytest.mark.parametrize("name", ["a.aedat4", "a.raw"])
def test_a_packed_recording_is_to_be_unpacked(run, sample, tmp_path, name):
    run("convert", sample, tmp_path / name)
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert (
        f"unpack it first, such as with `gunzip -k {name}.gz`" in run("info", packed, code=1).stderr
    )


def test_truncate_keeps_what_came_before(run, sample, tmp_path):
    text = tmp_path / "cut.txt"
    run("convert", sample, text)
    text.write_bytes(text.read_bytes()[:-3])
    result = run("info", text, "--resolution", "346x260", code=1)
    assert "after 999 events" in result.stderr
    assert "--on-error truncate" in result.stderr
    result = run("info", text, "--resolution", "346x260", "--on-error", "truncate", "--json")
    facts = json.loads(result.stdout)
    assert facts["n_events"] == 999
    assert "kept the 999 events" in facts["damage"]
    assert "Warning: " in result.stderr


def test_convert_there_and_back_gives_the_same_events(run, sample, tmp_path, make_events):
    assert "Wrote 1,000 events" in run("convert", sample, tmp_path / "a.aedat4").stdout
    run("convert", tmp_path / "a.aedat4", tmp_path / "b.raw")
    run("convert", tmp_path / "b.raw", tmp_path / "c.out", "--to", "npz")
    assert evcrisp.read(tmp_path / "c.out").equals(make_events(1000))


def test_convert_does_not_overwrite_unless_forced(run, sample, tmp_path):
    run("convert", sample, tmp_path / "a.npz")
    result = run("convert", sample, tmp_path / "a.npz", code=1)
    assert "exists already. Use --force to replace it." in result.stderr
    run("convert", sample, tmp_path / "a.npz", "--force")


def test_settings_reach_the_format(run, sample, tmp_path):
    run("convert", sample, tmp_path / "a.npz", "--set", "compressed=true")
    assert (tmp_path / "a.npz").stat().st_size < sample.stat().st_size
    assert (
        "has no option 'level'"
        in run("convert", sample, tmp_path / "b.npz", "--set", "level=1", code=2).stderr
    )
    assert (
        "expects KEY=VALUE"
        in run("convert", sample, tmp_path / "b.npz", "--set", "x", code=2).stderr
    )


@pytest.mark.parametrize(
    "words",
    [
        ("info",),
        ("info", "missing.npz"),
        ("nonsense",),
        ("info", "--resolution", "346", __file__),
        ("info", "--on-error", "ignore", __file__),
    ],
)
def test_wrong_usage_ends_with_code_2(run, words):
    result = run(*words, code=2)
    assert result.stdout == ""
    assert "Usage: " in result.stderr


def test_a_verb_that_is_misspelled_is_guessed(run):
    assert "No such command 'runn'. Did you mean 'run'?" in run("runn", code=2).stderr
    assert "Did you mean" not in run("xyzzy", code=2).stderr
    assert "Did you mean 'info'" not in run("--inf", code=2).stderr


def test_unknown_formats_are_explained(run, sample, tmp_path):
    assert "Did you mean 'npz'" in run("info", sample, "--format", "npzz", code=2).stderr
    assert "suffix of 'a.xyz'" in run("convert", sample, tmp_path / "a.xyz", code=2).stderr


def test_a_size_that_the_file_does_not_state_is_said(run, sample, tmp_path):
    run("convert", sample, tmp_path / "a.txt")
    result = run("info", tmp_path / "a.txt", "--json")
    facts = json.loads(result.stdout)
    assert facts["resolution_source"] == "guessed"
    assert "Use --resolution" in result.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_every_verb_has_help(verb):
    command = main.get_command(click.Context(main), verb)
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def every_call(command=main, words=()):
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            yield from every_call(command.get_command(context, word), (*words, word))


def test_help_is_laid_out_as_it_was_written(run):
    for words in every_call():
        text = run(*words, "--help").stdout
        assert "\\b" not in text, words
        assert "\b" not in text, words


def test_help_of_plot_has_a_line_per_kind(run):
    lines = run("plot", "--help").stdout.splitlines()
    assert any(
        re.fullmatch(r"  xyt +events over space and time +motion .*", line) for line in lines
    )


@pytest.mark.parametrize("verb", ["run", "render", "view", "plot"])
def test_help_names_the_methods_and_motions_that_there_are(run, verb):
    """They are written down in the verbs, so that their help loads nothing."""
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.motion import MOTION_MODELS

    text = " ".join(run(verb, "--help").stdout.split())
    assert ", ".join(ESTIMATORS) in text
    assert ", ".join(MOTION_MODELS) in text


def test_help_loads_no_compiled_code():
    program = "import sys; from evcrisp.cli import main; main(standalone_mode=False); "
    for verb in ("run", "plot", "view", "methods", "filters"):
        words = [sys.executable, "-c", program + "sys.exit('numba' in sys.modules)", verb, "--help"]
        assert subprocess.run(words, stdout=subprocess.DEVNULL).returncode == 0, verb


def test_methods_are_listed_for_people_and_for_machines(run):
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.motion import MOTION_MODELS

    page = run("methods").stdout
    facts = json.loads(run("methods", "--json").stdout)
    rows = {row["name"]: row for row in facts["methods"]}
    assert list(rows) == list(ESTIMATORS)
    assert rows["auto"]["parameters"] == {"false_alarm": 0.1}
    assert rows["exact"]["parameters"]["b_hat"] is None
    assert "contrast" not in rows["exact"]["parameters"]  # no word or number
    assert "auto: Align by contrast" in page
    assert "leave_one_out=false" in page
    assert [row["name"] for row in facts["motions"]] == list(MOTION_MODELS)
    assert "rotation: wx rad/s, wy rad/s, wz rad/s" in page
    assert ":class:" not in page


@pytest.mark.parametrize("verb", ["methods", "filters"])
@pytest.mark.parametrize("columns", [50, 80, 200])
def test_lists_are_as_wide_as_the_terminal(run, monkeypatch, verb, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run(verb).stdout.splitlines()
    assert max(map(len, lines)) <= columns


def test_the_module_is_the_command():
    words = [sys.executable, "-m", "evcrisp", "--version"]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"evcrisp, version {evcrisp.__version__}"


def test_simulate_writes_events_labels_and_truth(run, tmp_path):
    path = tmp_path / "scene.npz"
    words = (
        "--duration-ms",
        "20",
        "--resolution",
        "80x60",
        "--noise-hz",
        "20",
        "--theta",
        "250,-50",
    )
    assert "Wrote" in run("simulate", path, *words).stdout
    events = evcrisp.read(path)
    assert events.resolution == (80, 60)
    assert 0 < events.signal.mean() < 1
    truth = json.loads((tmp_path / "scene.npz.truth.json").read_text())
    assert truth["windows"] == [{"t_start_us": 0, "t_end_us": 20_000, "theta": [[250.0, -50.0]]}]
    assert truth["param_units"] == ["px/s", "px/s"]
    again = tmp_path / "again.npz"
    run("simulate", again, *words)
    assert again.read_bytes() == path.read_bytes()
    facts = json.loads(run("info", path, "--json").stdout)
    assert facts["n_signal"] == int(events.signal.sum())


def test_simulate_overwrites_neither_events_nor_truth(run, tmp_path):
    words = ("--duration-ms", "5", "--resolution", "40x30")
    (tmp_path / "a.npz.truth.json").write_text("mine")
    assert "exists already" in run("simulate", tmp_path / "a.npz", *words, code=1).stderr
    assert not (tmp_path / "a.npz").exists()
    (tmp_path / "b.npz").write_text("mine")
    assert "exists already" in run("simulate", tmp_path / "b.npz", *words, code=1).stderr
    assert not (tmp_path / "b.npz.truth.json").exists()
    assert (tmp_path / "b.npz").read_text() == "mine"


def test_simulate_keeps_the_gyroscope_in_aedat4(run, tmp_path):
    words = (
        "--motion",
        "rotation",
        "--duration-ms",
        "20",
        "--resolution",
        "80x60",
        "--noise",
        "none",
    )
    run("simulate", tmp_path / "a.aedat4", *words)
    assert json.loads(run("info", tmp_path / "a.aedat4", "--json").stdout)["imu_samples"] == 20


def test_simulate_says_nothing_of_a_gyroscope_that_is_in_the_truth(run, tmp_path):
    words = ("--motion", "rotation", "--duration-ms", "20", "--resolution", "80x60")
    assert run("simulate", tmp_path / "a.npz", *words).stderr == ""
    truth = json.loads((tmp_path / "a.npz.truth.json").read_text())
    assert len(truth["gyro"]["t_us"]) == 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--texture", "shapez"), "Did you mean 'shapes'"),
        (("--motion", "spin"), "Unknown motion model 'spin'"),
        (("--theta", "1"), "must be 2 numbers"),
        (("--set", "c_onn=1"), "Did you mean 'c_on'"),
        (("--set", "noise_hz=5", "--noise-hz", "3"), "--noise-hz and --set noise_hz are the same"),
        (("--set", "uniform-hz=5", "--noise-hz", "3"), "--noise-hz and --set uniform_hz are the"),
        (
            ("--set", "seed=5", "--seed", "0"),
            "--seed and --set seed are the same setting; give one",
        ),
        (("--noise-hz", "-1"), "Invalid value for '--noise-hz'"),
        (("--set", "camera=foo"), "--camera must be a Camera"),
        (("--set", "objects=foo"), "`objects` must be ObjectConfigs"),
        (("--set", "noise=3"), "--noise must be a NoiseConfig"),
        (("--duration-ms", "nan"), "Invalid value for '--duration-ms': expected a finite number"),
        (("--duration-ms", "1e9"), "expected 0.001 to 600000 ms; got 1e+09."),
        (("--set", "duration_us=0"), "--duration-ms must"),
        (("--set", "uniform_hz=-1"), "--noise-hz must"),
        (("--set", "t_start_us=9223372036854775800"), "`t_start_us` must"),
    ],
)
def test_impossible_simulations_are_explained(run, tmp_path, words, message):
    assert message in run("simulate", tmp_path / "a.npz", *words, code=2).stderr
    assert list(tmp_path.iterdir()) == []


def test_demo_saves_its_scene_and_says_how_to_look_at_it(run, tmp_path):
    assert "evcrisp demo --save" in run("demo").stdout.splitlines()[-1]
    scene = tmp_path / "scene.npz"
    assert f"evcrisp view {scene}" in run("demo", "--save", scene).stdout.splitlines()[-1]
    assert evcrisp.read(scene).signal is not None


def test_demo_prints_a_table_and_saves_a_picture(run, tmp_path):
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


def test_what_a_picture_needs_is_asked_for_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not installed
    result = run("demo", "--picture", tmp_path / "a.png", code=1)
    assert result.stdout == ""
    assert "Figures need the package 'matplotlib'" in result.stderr


@pytest.mark.parametrize("words", [("--picture", "mine.png"), ("--save", "mine.npz")])
def test_demo_finds_its_files_in_the_way_before_the_work(run, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / words[1]).write_text("mine")
    result = run("demo", *words, code=1)
    assert result.stdout == ""
    assert "exists already. Use --force to replace it." in result.stderr
    assert "No output format has the suffix" in run("demo", "--save", "a.xyz", code=2).stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_one_event_is_one_event(run, make_events, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evcrisp.write("one.npz", make_events(1))
    assert run("convert", "one.npz", "a.npz").stdout == "Wrote 1 event to a.npz.\n"
    assert "of 1 event, dropped 1" in run("filter", "one.npz", "b.npz").stdout
    np.save("labels.npy", np.ones(3, bool))
    words = ("evaluate", "one.npz", "--labels", "labels.npy", "--no-aocc")
    assert "holds 3 labels, but the recording has 1 event." in run(*words, code=1).stderr
    np.save("labels.npy", np.ones(0, bool))
    assert "holds 0 labels, but the recording has at least 1 event." in run(*words, code=1).stderr
    run("simulate", "c.aedat4", "--duration-ms", "1", "--motion", "rotation")
    assert "left out: 1 IMU sample." in run("convert", "c.aedat4", "c.npz").stderr


def test_simulating_nothing_gives_an_empty_recording(run, tmp_path):
    run("simulate", tmp_path / "still.npz", "--theta", "0,0", "--duration-ms", "5")
    assert json.loads(run("info", tmp_path / "still.npz", "--json").stdout)["n_events"] == 0


@pytest.mark.parametrize(
    "setting", ["format=dat", "overwrite=true", "path=z", "events=z", "on_chunk=z", "imu=z"]
)
def test_settings_cannot_reach_beyond_the_format(run, sample, tmp_path, setting):
    result = run("convert", sample, tmp_path / "a.npz", "--set", setting, code=2)
    assert "has no option" in result.stderr


@pytest.mark.parametrize(
    ("setting", "message"),
    [("compressed=maybe", "must be true or false; got 'maybe'"), ("compressed=1", "true or false")],
)
def test_settings_must_be_of_the_right_kind(run, sample, tmp_path, setting, message):
    result = run("convert", sample, tmp_path / "a.npz", "--set", setting, code=2)
    assert message in result.stderr


def test_convert_can_start_at_zero(run, sample, tmp_path, make_events):
    run("convert", sample, tmp_path / "a.es", "--start-at-zero")
    events = evcrisp.read(tmp_path / "a.es")
    assert events.t.tolist() == (make_events(1000).t - make_events(1000).t[0]).tolist()
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    run("convert", tmp_path / "none.npz", tmp_path / "none.es", "--start-at-zero")


def test_what_comes_beside_the_events_starts_at_zero_too(run, data_dir, tmp_path):
    source, output = data_dir / "emlb" / "demo-01.aedat4", tmp_path / "a.aedat4"
    run("convert", source, output, "--start-at-zero")
    with evcrisp.open(source) as before, evcrisp.open(output) as after:
        shift = int(next(before.chunks()).t[0])
        assert int(next(after.chunks()).t[0]) == 0
        assert len(after.imu()) == 510
        assert (after.imu().t == before.imu().t - shift).all()
        assert (after.triggers().t == before.triggers().t - shift).all()
        times = [
            [(f.t, f.exposure_start, f.exposure_end) for f in r.frames()] for r in (before, after)
        ]
    assert [tuple(t - shift for t in frame) for frame in times[0]] == times[1]
    result = run("convert", source, tmp_path / "a.npz", "--start-at-zero")
    assert "left out: 510 IMU samples, 52 triggers, 13 frames." in result.stderr


def test_times_before_the_first_event_become_negative(run, tmp_path):
    """What comes beside events may come before them."""
    imu = Imu(t=np.array([900, 1100]), gyro_rad_s=np.zeros((2, 3)), accel_m_s2=np.zeros((2, 3)))
    events = evcrisp.Events(x=[1], y=[1], t=[1000], p=[1], resolution=(8, 4))
    for name in ("a.aedat4", "a.zip"):
        evcrisp.write(tmp_path / name, events, imu=imu)
        run("convert", tmp_path / name, tmp_path / f"zero-{name}", "--start-at-zero")
        with evcrisp.open(tmp_path / f"zero-{name}") as recording:
            assert recording.imu().t.tolist() == [-100, 100]


def test_a_picture_is_not_overwritten_and_its_kind_is_checked(run, tmp_path):
    (tmp_path / "mine.png").write_text("mine")
    assert "exists already" in run("demo", "--picture", tmp_path / "mine.png", code=1).stderr
    assert "must end in" in run("demo", "--picture", tmp_path / "a.xyz", code=2).stderr
    run("demo", "--picture", tmp_path / "a.svg")
    first = (tmp_path / "a.svg").read_bytes()
    run("demo", "--picture", tmp_path / "a.svg", "--force")
    assert b"<svg" in first


def test_a_pipe_is_refused(run, sample, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert "pipe or a device" in run("info", tmp_path / "pipe.csv", code=1).stderr
    result = run("convert", sample, tmp_path / "pipe.csv", "--force", code=1)
    assert "not a regular file" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", ["info IN", "--help", "-V", "info --help", "datasets check -h"])
def test_a_standard_output_that_is_full_is_named(sample, words):
    words = words.replace("IN", str(sample))
    words = f"exec {sys.executable} -m evcrisp {words} > /dev/full"
    result = subprocess.run(["sh", "-c", words], stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    said = "Error: Standard output could not be written: No space left on device.\n"
    assert result.stderr == said


def test_a_folder_that_cannot_be_made_is_named(run, sample):
    result = run("run", sample, "-o", sample / "out", code=1)
    assert result.stderr == f"Error: {sample / 'out'}: Not a directory.\n"


def test_a_header_that_says_no_format_asks_for_the_option(run, tmp_path):
    (tmp_path / "a.raw").write_bytes(b"x" * 40)
    assert "give --format evt3, evt2 or evt21" in run("info", tmp_path / "a.raw", code=1).stderr


def test_a_closed_standard_error_is_no_reason_to_fail(sample):
    words = f"exec {sys.executable} -m evcrisp info {sample} 2>&-"
    result = subprocess.run(["sh", "-c", words], stdout=subprocess.PIPE, text=True, check=True)
    assert "1,000" in result.stdout


def test_being_told_to_end_leaves_no_scraps(tmp_path):
    words = [
        sys.executable,
        "-m",
        "evcrisp",
        "simulate",
        tmp_path / "long.npz",
        "--duration-ms",
        "60000",
    ]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not [p for p in tmp_path.iterdir() if p.stat().st_size > 100_000]:
        assert process.poll() is None
        time.sleep(0.05)
    process.terminate()
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_warnings_stand_on_a_line_of_their_own_beside_the_progress_bar(
    terminal, make_events, tmp_path
):
    labeled = make_events(1000).with_signal([True] * 1000)
    evcrisp.write(tmp_path / "labeled.npz", labeled)
    words = ("convert", "labeled.npz", "a.aedat4")
    process = terminal.start(*words, cwd=tmp_path, stdout=subprocess.PIPE)
    shown = terminal.read_all()
    assert "Wrote 1,000 events" in process.communicate()[0]
    assert "Converting" in shown
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "\n").splitlines()
    assert any(line.startswith("Warning: Format 'aedat4' does not keep labels") for line in lines)
