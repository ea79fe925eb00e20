"""Times that are no numbers are refused in words."""

import pytest
from click.testing import CliRunner

import evcrisp
from evcrisp.cli import main


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
def test_a_time_must_be_finite(recording, words, option, value):
    filled = [word.format(recording) for word in words]
    result = CliRunner().invoke(main, [*filled, option, value])
    assert result.exit_code == 2, result.output
    assert f"{option} must be a finite number of milliseconds; got {value}." in result.output


def test_a_window_without_events_is_not_drawn(recording):
    words = ["plot", "scatter", recording, "-o", f"{recording}.png", "--start-ms", "99999"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert "There are no events from 99999 ms to" in result.output


@pytest.mark.parametrize("verb", [["run", "{}", "-o", "{}.d"], ["pareto", "{}"]])
def test_a_time_must_fit_a_clock(recording, verb):
    filled = [word.format(recording) for word in verb]
    result = CliRunner().invoke(main, [*filled, "--window-ms", "1e18"])
    assert result.exit_code == 2
    assert "at most 1e+12 ms" in result.output
