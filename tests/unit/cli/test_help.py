"""Help texts, and the lists of methods and filters."""

import json
import re
import subprocess
import sys

import click
import pytest

import evcrisp
from evcrisp.cli import COMMANDS, main


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name):
    command = main.get_command(click.Context(main), name)
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


def test_help_has_no_control_characters(run):
    for words in every_call():
        text = run(*words, "--help").stdout
        assert "\\b" not in text, words
        assert "\b" not in text, words


def test_help_of_plot_lists_figures(run):
    lines = run("plot", "--help").stdout.splitlines()
    assert any(
        re.fullmatch(r"  xyt +events over space and time +motion .*", line) for line in lines
    )


@pytest.mark.parametrize("name", ["run", "render", "view", "plot"])
def test_help_lists_methods_and_motion_models(run, name):
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.motion import MOTION_MODELS

    text = " ".join(run(name, "--help").stdout.split())
    assert ", ".join(ESTIMATORS) in text
    assert ", ".join(MOTION_MODELS) in text


def test_help_lists_registered_method(run, request):
    from evcrisp.estimators.registry import ESTIMATORS

    ESTIMATORS.register(ESTIMATORS["cmax"], "mine")
    request.addfinalizer(lambda: ESTIMATORS.unregister("mine"))
    assert "mine" in run("run", "--help").stdout


def test_help_imports_no_compiled_code():
    program = "import sys; from evcrisp.cli import main; main(standalone_mode=False); "
    for name in ("run", "plot", "view", "methods", "filters"):
        words = [sys.executable, "-c", program + "sys.exit('numba' in sys.modules)", name, "--help"]
        assert subprocess.run(words, stdout=subprocess.DEVNULL).returncode == 0, name


def test_methods_prints_text_and_json(run):
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.motion import MOTION_MODELS
    from evcrisp.motion.open_motion import OPEN_MOTIONS

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
    assert {row["name"]: row["about"] for row in facts["open_motions"]} == OPEN_MOTIONS
    assert f"auto: {OPEN_MOTIONS['auto']}" in " ".join(page.split())
    assert "rotation: wx rad/s, wy rad/s, wz rad/s" in page
    assert ":class:" not in page


@pytest.mark.parametrize("name", ["methods", "filters"])
@pytest.mark.parametrize("columns", [50, 80, 200])
def test_lists_fit_terminal_width(run, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run(name).stdout.splitlines()
    assert max(map(len, lines)) <= columns


def test_module_runs_program():
    words = [sys.executable, "-m", "evcrisp", "--version"]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"evcrisp, version {evcrisp.__version__}"
