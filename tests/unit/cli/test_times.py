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
    said = f"Invalid value for '{option}': expected a finite number of milliseconds; got {value}."
    assert said in " ".join(result.output.split())


@pytest.mark.parametrize("verb", [["plot", "scatter", "{}", "-o", "{}.png"], ["pareto", "{}"]])
def test_a_window_without_events_is_refused(run, recording, verb):
    filled = [word.format(recording) for word in verb]
    result = run(*filled, "--start-ms", "99999", code=1)
    assert "There are no events from 99999 ms to 100029 ms" in result.output


def test_the_motion_of_nothing_is_not_drawn(run, tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    result = run("plot", "motion", tmp_path / "none.npz", "-o", tmp_path / "a.png", code=1)
    assert "There are no events, and so no motion to draw." in result.stderr


@pytest.mark.parametrize("verb", [["run", "{}", "-o", "{}.d"], ["pareto", "{}"]])
def test_a_time_must_fit_a_clock(recording, verb):
    filled = [word.format(recording) for word in verb]
    result = CliRunner().invoke(main, [*filled, "--window-ms", "1e18"])
    assert result.exit_code == 2
    assert "Invalid value for '--window-ms': expected 0.001 to 1e+12 ms" in result.output
