"""Numbers that cannot be are refused with the name of the option, never with that of an argument."""

import re

import click
import pytest

import evcrisp
from evcrisp.cli import COMMANDS, main
from evcrisp.cli.error_messages import error_text
from evcrisp.cli.types import Milliseconds, NumbersType, ResolutionType

NUMERIC = (
    click.types.IntParamType,
    click.types.FloatParamType,
    Milliseconds,
    NumbersType,
    ResolutionType,
)

#: Verb -> words that make a call complete, IN for a recording.
COMPLETE = {
    "info": ["IN"],
    "convert": ["IN", "a.npz"],
    "filter": ["IN", "a.npz"],
    "run": ["IN", "-o", "out", "-m", "cmax"],
    "pareto": ["IN"],
    "evaluate": ["IN", "--no-aocc"],
    "view": ["IN", "--export", "a.html", "--windows", "1", "--front-points", "0"],
    "plot": ["scatter", "IN", "-o", "a.png", "-m", "baf"],
    "render": ["IN", "a.gif", "--panes", "raw"],
    "simulate": ["a.npz"],
    "train": ["mlpf", "-o", "a.npz"],
    "datasets": ["make-twin", "ecd", "twin", "--small"],
    "reproduce": ["table3"],
    "tune": ["baf", "--root", "."],
    "demo": [],
}


def numeric_options():
    for verb in COMMANDS:
        command = main.get_command(click.Context(main), verb)
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), COMPLETE[verb][0])
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(option.type, NUMERIC):
                yield verb, max(option.opts, key=len)


@pytest.fixture
def folder(make_events, tmp_path, monkeypatch):
    evcrisp.write(tmp_path / "in.npz", make_events(300))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("value", ["nan", "-inf", "x", ""])
@pytest.mark.parametrize(("verb", "option"), list(numeric_options()))
def test_what_is_no_number_is_refused_by_name(run, folder, verb, option, value):
    words = ["in.npz" if word == "IN" else word for word in COMPLETE[verb]]
    result = run(verb, *words, option, value, code=2)
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
            "Give one of --window-ms and --window-events, not both.",
        ),
        (
            ["run", "IN", "-o", "out", "--displacement-px", "5", "--overlap", "0.5"],
            "--overlap goes with --window-ms or --window-events.",
        ),
        (["pareto", "IN", "--points", "2"], "'--points': 2 is not in the range 3<=x<=1001."),
        (["pareto", "IN", "--points", "2001"], "'--points': 2001 is not in the range 3<=x<=1001."),
        (["plot", "maps", "IN", "-o", "a.png", "--dpi", "1e9"], "Invalid value for '--dpi'"),
        (["render", "IN", "a.gif", "--speed", "1e30"], "--speed 1e+30 makes it"),
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
        (["view", "IN", "--window-ms", "60000"], "'--window-ms': expected 0.01 to 10000 ms"),
        (["simulate", "a.npz", "--resolution", "9999x9999"], "--resolution may have up to"),
        (["simulate", "a.npz", "--resolution", "70000x9"], "up to 65536 a side; got '70000x9'"),
        (
            ["simulate", "a.npz", "--object-theta", "1"],
            "--object-theta of motion 'translation' must",
        ),
        (["simulate", "a.npz", "--theta", "1e9,0"], "--theta moves the image by 1e+09 px/s"),
        (["tune", "baf", "--root", ".", "--rate", "0"], "Invalid value for '--rate'"),
        (["info", "IN", "--resolution", "0x5"], "expected WIDTHxHEIGHT in px"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(run, folder, words, message):
    words = ["in.npz" if word == "IN" else word for word in words]
    result = run(*words, code=2)
    assert message in " ".join(result.stderr.split())
    assert f"Usage: main {words[0]} " in result.stderr
    assert not re.findall(r"`\w+`", result.stderr)
    assert [path.name for path in folder.iterdir()] == ["in.npz"]


def test_only_options_that_a_verb_has_are_named():
    verb = main.get_command(click.Context(main), "simulate")
    assert for_the_shell("`duration_us` and `window_us`", verb) == "--duration-ms and `window_us`"
    verb = main.get_command(click.Context(main), "run")
    assert for_the_shell("`duration_us` and `window_us`", verb) == "`duration_us` and --window-ms"


def test_limits_are_those_of_the_library():
    """Limits are written down in the verbs, so that their help loads nothing."""
    from evcrisp.simulation.config import MAX_DURATION_US
    from evcrisp.viewer import requests
    from evcrisp.viewer.export import MAX_WINDOWS

    verbs = {verb: main.get_command(click.Context(main), verb) for verb in COMMANDS}
    kinds = {(verb, p.name): p.type for verb, command in verbs.items() for p in command.params}
    assert kinds["simulate", "duration_us"].most_us == MAX_DURATION_US
    assert kinds["view", "front_points"].max == requests.MAX_POINTS
    assert (kinds["view", "n_windows"].min, kinds["view", "n_windows"].max) == (1, MAX_WINDOWS)
    assert requests.MIN_POINTS == 3
    window = kinds["view", "window_us"]
    for length_us in (window.least_us, window.most_us):
        requests.Request(kind="front", start_us=0, length_us=length_us)
    for length_us in (window.least_us - 1, window.most_us + 1):
        with pytest.raises(evcrisp.ConfigError):
            requests.Request(kind="front", start_us=0, length_us=length_us)
