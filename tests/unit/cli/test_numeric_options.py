"""Invalid numbers are refused with the name of the option, not of the library's parameter."""

import re

import click
import pytest

import evcrisp
from evcrisp.cli import COMMANDS, main
from evcrisp.cli.options import Milliseconds, NumbersType, ResolutionType

NUMERIC = (
    click.types.IntParamType,
    click.types.FloatParamType,
    Milliseconds,
    NumbersType,
    ResolutionType,
)

#: Command -> arguments of a complete call, IN for a recording.
COMPLETE = {
    "info": ["IN"],
    "convert": ["IN", "a.npz"],
    "filter": ["IN", "a.npz"],
    "run": ["IN", "-o", "out", "-m", "cmax"],
    "live": ["IN", "-o", "a.npz", "--speed", "max", "-m", "baf"],
    "flow": ["IN", "-o", "out", "-m", "cmax"],
    "pareto": ["IN"],
    "evaluate": ["IN", "--no-aocc"],
    "view": ["IN", "--export", "a.html", "--windows", "1", "--front-points", "0"],
    "plot": ["scatter", "IN", "-o", "a.png", "-m", "baf"],
    "render": ["IN", "a.gif", "--panes", "raw"],
    "simulate": ["a.npz"],
    "train": ["mlpf", "-o", "a.npz"],
    "datasets": ["make-twin", "ecd", "twin", "--small"],
    "bench": ["."],
    "reproduce": ["table3"],
    "tune": ["baf", "--root", "."],
    "demo": [],
}


def numeric_options():
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), COMPLETE[name][0])
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(option.type, NUMERIC):
                yield name, max(option.opts, key=len)


@pytest.fixture
def folder(make_events, tmp_path, monkeypatch):
    evcrisp.write(tmp_path / "in.npz", make_events(300))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("value", ["nan", "-inf", "x", ""])
@pytest.mark.parametrize(("name", "option"), list(numeric_options()))
def test_invalid_number_is_refused_with_option_name(run, folder, name, option, value):
    words = ["in.npz" if word == "IN" else word for word in COMPLETE[name]]
    result = run(name, *words, option, value, code=2)
    assert f"Invalid value for '{option}'" in result.stderr
    assert "`" not in result.stderr
    assert [path.name for path in folder.iterdir()] == ["in.npz"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "IN", "-o", "out", "--window-ms", "0"], "'--window-ms': expected 0.001 to"),
        (["run", "IN", "-o", "out", "--window-ms", "-30"], "'--window-ms': expected 0.001 to"),
        (["run", "IN", "-o", "out", "--overlap", "1"], "'--overlap': 1.0 is not in the range"),
        (["run", "IN", "-o", "out", "--displacement-px", "0"], "Invalid value for '--displ"),
        (
            ["run", "IN", "-o", "out", "--window-ms", "5", "--window-events", "9"],
            "--window-ms and --window-events exclude each other.",
        ),
        (
            ["run", "IN", "-o", "out", "--displacement-px", "5", "--overlap", "0.5"],
            "--overlap is not for windows by displacement.",
        ),
        (["pareto", "IN", "--points", "2"], "'--points': 2 is not in the range 3<=x<=1001."),
        (["pareto", "IN", "--points", "2001"], "'--points': 2001 is not in the range 3<=x<=1001."),
        (["plot", "maps", "IN", "-o", "a.png", "--dpi", "1e9"], "Invalid value for '--dpi'"),
        (
            ["render", "IN", "a.gif", "--speed", "1e30"],
            "--speed must give 1 us to one hour from frame to frame",
        ),
        (
            ["render", "IN", "a.gif", "--window-ms", "60000"],
            "'--window-ms': expected 0.001 to 10000",
        ),
        (["view", "IN", "--export", "a.html", "--windows", "9999"], "'--windows': 9999 is not in"),
        (["view", "IN", "--export", "a.html", "--front-points", "2"], "0 for no front, or 3 to 41"),
        (
            ["view", "IN", "--export", "a.html", "--front-points", "42"],
            "'--front-points': 42 is not",
        ),
        (["view", "IN", "--window-ms", "60000"], "'--window-ms': expected 0.001 to 10000 ms"),
        (["simulate", "a.npz", "--resolution", "9999x9999"], "Error: --resolution m"),
        (["simulate", "a.npz", "--resolution", "70000x9"], "up to 65536 a side; got '70000x9'"),
        (
            ["simulate", "a.npz", "--object-theta", "1"],
            "Error: --object-theta ",
        ),
        (["simulate", "a.npz", "--theta", "1e9,0"], "Error: --theta m"),
        (["tune", "baf", "--root", ".", "--rate", "0"], "Invalid value for '--rate'"),
        (["info", "IN", "--resolution", "0x5"], "expected WIDTHxHEIGHT in px"),
    ],
)
def test_number_out_of_range_is_refused_with_option_name(run, folder, words, message):
    words = ["in.npz" if word == "IN" else word for word in words]
    result = run(*words, code=2)
    assert message in " ".join(result.stderr.split())
    assert f"Usage: main {words[0]} " in result.stderr
    assert not re.findall(r"`\w+`", result.stderr)
    assert [path.name for path in folder.iterdir()] == ["in.npz"]


def test_limits_of_options_match_library():
    """The limits are repeated in the commands, so that the help imports nothing."""
    from evcrisp.simulation.config import MAX_DURATION_US
    from evcrisp.viewer import requests
    from evcrisp.viewer.export import MAX_WINDOWS

    commands = {name: main.get_command(click.Context(main), name) for name in COMMANDS}
    kinds = {(name, p.name): p.type for name, command in commands.items() for p in command.params}
    assert kinds["simulate", "duration_us"].most_us == MAX_DURATION_US
    assert kinds["view", "front_points"].max == requests.MAX_POINTS
    assert (kinds["view", "n_windows"].min, kinds["view", "n_windows"].max) == (1, MAX_WINDOWS)
    assert requests.MIN_POINTS == 3
    window = kinds["view", "window_us"]
    for duration_us in (window.least_us, window.most_us):
        requests.Request(kind="front", start_us=0, duration_us=duration_us)
    for duration_us in (window.least_us - 1, window.most_us + 1):
        with pytest.raises(evcrisp.ConfigError):
            requests.Request(kind="front", start_us=0, duration_us=duration_us)


@pytest.fixture
def recording(tmp_path, make_events):
    path = tmp_path / "events.npz"
    evcrisp.write(path, make_events(500))
    return str(path)


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["plot", "scatter", "{}", "-o", "{}.png"], "--window-ms"),
        (["plot", "scatter", "{}", "-o", "{}.png"], "--start-ms"),
        (["render", "{}", "{}.gif"], "--window-ms"),
        (["view", "{}", "--export", "{}.html"], "--window-ms"),
        (["reproduce", "table3"], "--imu-offset-ms"),
        (["run", "{}", "-o", "{}.d"], "--window-ms"),
        (["pareto", "{}"], "--window-ms"),
        (["pareto", "{}"], "--start-ms"),
    ],
)
def test_time_must_be_finite(run, recording, words, option, value):
    filled = [word.format(recording) for word in words]
    result = run(*filled, option, value, code=2)
    message = (
        rf"Invalid value for '{option}': expected a finite number of milliseconds(, or auto)?; "
        rf"got {value}\."
    )
    assert re.search(message, " ".join(result.output.split()))


@pytest.mark.parametrize("name", [["plot", "scatter", "{}", "-o", "{}.png"], ["pareto", "{}"]])
def test_window_without_events_is_refused(run, recording, name):
    filled = [word.format(recording) for word in name]
    result = run(*filled, "--start-ms", "99999", code=1)
    assert "There are no events from 99999 ms to 100029 ms" in result.output


def test_motion_figure_of_empty_recording_is_refused(run, tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    result = run("plot", "motion", tmp_path / "none.npz", "-o", tmp_path / "a.png", code=1)
    assert "There are no events, and so no motion to draw." in result.stderr


@pytest.mark.parametrize("name", [["run", "{}", "-o", "{}.d"], ["pareto", "{}"]])
def test_time_has_upper_limit(run, recording, name):
    filled = [word.format(recording) for word in name]
    result = run(*filled, "--window-ms", "1e18", code=2)
    assert "Invalid value for '--window-ms': expected 0.001 to 1e+12 ms" in result.output
