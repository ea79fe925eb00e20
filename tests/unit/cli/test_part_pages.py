"""``evcrisp filters NAME`` and ``evcrisp methods NAME``: rule, parameters, references, presets."""

import inspect
import json
from dataclasses import dataclass

import pytest

import evcrisp
from evcrisp.cli.part_docs import read_doc, unit_of
from evcrisp.cli.part_page import explanation, parameter_facts
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.filters import FILTERS

BUILT_IN_FILTERS = [n for n in FILTERS if FILTERS[n].__module__.startswith("evcrisp.")]
BUILT_IN_METHODS = [n for n in ESTIMATORS if ESTIMATORS[n].__module__.startswith("evcrisp.")]


@pytest.mark.parametrize("name", BUILT_IN_FILTERS)
def test_every_parameter_of_a_filter_has_a_meaning(name):
    doc = read_doc(FILTERS[name], FILTERS.values())
    for parameter in inspect.signature(FILTERS[name]).parameters:
        meaning = doc.parameters[parameter]
        assert len(meaning) > 8
        assert meaning[0].isupper()
        assert "As in" not in meaning
        if parameter.endswith("_us"):
            assert unit_of(parameter, meaning) == "us"
    assert doc.rule
    marks = "".join((*doc.rule, *doc.parameters.values(), *doc.references))
    assert not set("`\\") & set(marks)
    assert ":math:" not in marks


@pytest.mark.parametrize("name", BUILT_IN_METHODS)
def test_every_parameter_of_a_method_has_a_meaning(name):
    doc = read_doc(ESTIMATORS[name], ESTIMATORS.values())
    assert set(inspect.signature(ESTIMATORS[name]).parameters) <= set(doc.parameters)


@pytest.mark.parametrize("name", [n for n in BUILT_IN_FILTERS if n not in ("raw", "hotpixel")])
def test_filters_of_the_literature_have_a_source(run, name):
    facts = json.loads(run("filters", name, "--json").stdout)
    assert facts["source"]
    is_program = any(word in facts["source"] for word in ("SDK", "dv-processing", "jAER", "E-MLB"))
    assert facts["references"] or is_program


def test_filter_is_explained(run):
    page = " ".join(run("filters", "stcf").stdout.split())
    assert "stcf: Keep an event if k neighboring pixels fired at most tau_us earlier." in page
    assert "tau_us = 10000 us Maximum age of the neighboring event, us." in page  # of baf
    assert "k = 2 Number of neighbors that must be recent." in page
    assert "radius = 1 px" in page
    assert "PAMI, 2022." in page
    assert "jaer: tau_us=24999 k=2 same_polarity=true drop_first=true; by the description" in page
    facts = json.loads(run("filters", "stcf", "--json").stdout)
    assert facts["parameter_docs"]["tau_us"] == {
        "default": 10_000,
        "is_plain": True,
        "unit": "us",
        "meaning": "Maximum age of the neighboring event, us.",
    }


def test_method_is_explained(run):
    page = " ".join(run("methods", "cmax").stdout.split())
    assert "objective = variance Measure of sharpness" in page
    assert "In Python also: contrast, blurs_px, search." in page
    assert "CVPR 2018" in page
    facts = json.loads(run("methods", "paper", "--json").stdout)
    assert facts["parameter_docs"]["rate_px"]["unit"] == "px"


@pytest.mark.parametrize("name", ["pugm", "dbscan"])
def test_reconstructions_say_so(run, name):
    page = " ".join(run("filters").stdout.split())
    assert f"reconstructed: {FILTERS[name].about.reconstruction}" in page
    assert "Reconstructed" in run("filters", name).stdout


def test_list_says_which_presets_were_compared(run):
    page = " ".join(run("filters").stdout.split())
    assert (
        "presets: emlb kugamas dv (equal to the program bit for bit), jaer metavision tonic (by its "
        "description; not compared)" in page
    )


@pytest.mark.parametrize("command", ["filters", "methods"])
def test_unknown_name_suggests_a_similar_one(run, command):
    assert "Unknown" in run(command, "nothing", code=2).stderr
    close = {"filters": ("stcff", "stcf"), "methods": ("cmaxx", "cmax")}[command]
    assert f"Did you mean '{close[1]}'?" in run(command, close[0], code=2).stderr


def test_filter_in_place_of_a_method_names_the_right_command(run, sample, tmp_path):
    words = ("run", sample, "-o", tmp_path / "out", "-m", "baf")
    message = " ".join(run(*words, code=2).stderr.split())
    assert "'baf' is a filter" in message
    assert "Use `evcrisp filter RECORDING OUTPUT -m baf`" in message
    assert not (tmp_path / "out").exists()
    words = ("evaluate", sample, "--motion", "rotation", "-m", "stcf", "--no-aocc")
    assert "'stcf' is a filter" in run(*words, code=2).stderr


def test_method_in_place_of_a_filter_names_the_right_command(run, sample, tmp_path):
    message = run("filter", sample, tmp_path / "a.npz", "-m", "auto", code=2).stderr
    assert "Use `evcrisp run RECORDING -o FOLDER -m auto`" in " ".join(message.split())
    assert (
        "Unknown filter 'nothing'"
        in run("filter", sample, tmp_path / "a.npz", "-m", "nothing", code=2).stderr
    )


def test_motion_is_explained(run):
    page = " ".join(run("methods", "rotation").stdout.split())
    assert page.startswith("rotation: Angular velocity (wx, wy, wz) of the camera")
    assert page.endswith("Parameters: wx [rad/s], wy [rad/s], wz [rad/s]")
    assert ">>>" not in page
    assert json.loads(run("methods", "affine", "--json").stdout)["parameters"]["a11"] == "1/s"


def test_part_without_a_docstring_has_no_rule():
    @dataclass(frozen=True)
    class Mine:
        tau_us: int = 5

    class Plain:
        pass

    assert read_doc(Mine).rule == read_doc(Plain).rule == ()
    facts = {"name": "mine", **parameter_facts(Mine, ())}
    assert explanation(facts, "use").splitlines()[0] == "mine"
    assert "tau_us = 5 us" in explanation(facts, "use")


def test_filter_that_states_no_source_and_cost_has_no_empty_lines_for_them(run):
    @dataclass(frozen=True)
    class Bare:
        """Keep every event."""

        name = "bare"

        def start(self, resolution):
            return self

    evcrisp.register("filter")(Bare)
    try:
        page, rows = run("filters", "bare").stdout, run("filters").stdout.splitlines()
    finally:
        evcrisp.plugins.registry_of("filter").unregister("bare")
    assert page == "bare: Keep every event.\n\nParameters: none\n"
    assert rows[rows.index("bare") :] == ["bare", "    parameters: none"]
