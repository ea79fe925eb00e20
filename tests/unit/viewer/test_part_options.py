"""Parameters of methods and filters as controls; results of other settings are dimmed."""

import json
from urllib.parse import quote

import pytest
from tests.unit.viewer.conftest import WINDOW_US

import evcrisp
from evcrisp.filters import FILTERS
from evcrisp.viewer.session import part_options

pytestmark = pytest.mark.slow


def is_stale(screen, pane):
    return screen.page.evaluate(
        "pane => document.querySelector(`[data-pane=${pane}]`).classList.contains('is-stale')", pane
    )


def test_filter_parameters_change_the_labels(screen, url, scene):
    screen.open(f"{url}#t=40000&filter=baf")
    screen.page.click("#filter-options")
    screen.page.fill("#parameters input[name=tau_us]", "300")
    screen.page.keyboard.press("Tab")
    screen.settled()
    events = scene.events
    inside = (events.t >= events.t[0] + 40_000) & (events.t < events.t[0] + 40_000 + WINDOW_US)
    n_kept = int(evcrisp.denoise(events, "baf", tau_us=300).signal[inside].sum())
    assert f"keeps {n_kept:,} of {inside.sum():,}" in screen.info("compare")
    assert screen.page.evaluate("JSON.parse(evcrisp.state.get('filter_options'))") == {
        "tau_us": 300
    }
    screen.page.click("#parameters .reset")
    screen.settled()
    n_kept = int(evcrisp.denoise(events, "baf").signal[inside].sum())
    assert f"keeps {n_kept:,} of" in screen.info("compare")
    assert screen.page.input_value("#parameters input[name=tau_us]") != "300"


def test_method_parameters_change_the_labels_and_are_in_the_address(screen, url):
    screen.open(f"{url}#t=40000&method=eja")
    screen.page.click("#method-options")
    screen.settled()
    names = screen.page.eval_on_selector_all(
        "#parameters input", "all => all.map((one) => one.name)"
    )
    assert {"tau", "objective", "leave_one_out", "seed"} <= set(names)
    assert "contrast" not in names
    screen.page.fill("#parameters input[name=tau]", "0.4")
    screen.page.keyboard.press("Tab")
    screen.settled()
    assert "40 %" in screen.info("denoised")
    screen.page.check("#parameters input[name=leave_one_out]")
    screen.settled()
    screen.page.wait_for_timeout(200)
    address = screen.page.url
    screen.page.goto("about:blank")
    screen.open(address)
    assert "40 %" in screen.info("denoised")
    assert screen.page.evaluate("evcrisp.shown.result.method_options") == {
        "tau": 0.4,
        "leave_one_out": True,
    }
    # Another method has its own parameters.
    screen.page.select_option("#method", "auto")
    screen.settled()
    assert screen.state("method_options") == ""


def test_bad_parameter_is_refused_with_the_reason(screen, url):
    screen.open(f"{url}#t=40000&method=eja")
    screen.page.click("#method-options")
    screen.page.fill("#parameters input[name=tau]", "7")
    screen.page.keyboard.press("Tab")
    screen.settled()
    assert "`tau` must be" in screen.page.inner_text("#message.is-error")
    screen.page.fill("#parameters input[name=tau]", "many")
    screen.page.keyboard.press("Tab")
    screen.page.wait_for_timeout(50)
    assert "tau must be a number" in screen.page.inner_text("#message.is-error")


@pytest.mark.parametrize("text", ["{", "[1]", "null", '{"nothing": 1}', '"x"'])
def test_damaged_parameters_in_the_address_are_left_out(screen, url, text):
    screen.open(f"{url}#t=40000&method_options={quote(text)}")
    assert "keeps" in screen.info("denoised")


@pytest.mark.parametrize(
    "options", [{"a": [1]}, {"a": None}, {"a": {"b": 1}}, {str(k): 1 for k in range(65)}]
)
def test_server_refuses_parameters_that_are_not_plain(client, options):
    answer = client.ask("api/jobs", "POST", {"kind": "estimate", "method_options": options})
    assert answer.status == 400
    assert "method_options" in answer.json["error"]


def test_numbers_of_the_previous_model_are_dimmed(screen, url):
    screen.open(f"{url}#t=40000&filter=baf")
    assert not is_stale(screen, "denoised")
    # The page is painted before the next result arrives.
    stale = screen.page.evaluate(
        """() => {
          evcrisp.state.set({ method: "cmax" });
          return new Promise((resolve) => {
            const look = () => {
              evcrisp.paintNow();
              const panes = ["aligned", "denoised", "layers", "contrast", "confidence", "compare", "raw"];
              if (evcrisp.wanted.result.method !== "cmax") return setTimeout(look, 1);
              return resolve(panes.map((name) => evcrisp.panes[name].element.classList.contains("is-stale")));
            };
            look();
          });
        }"""
    )
    assert stale == [True] * 5 + [False] * 2
    opacity = screen.page.evaluate(
        """() => {
          const pane = document.querySelector("[data-pane=denoised]");
          pane.classList.add("is-stale");
          const value = getComputedStyle(pane.querySelector(".info")).opacity;
          return Number(value);
        }"""
    )
    assert opacity < 0.6
    screen.settled()
    screen.page.evaluate("evcrisp.paintNow()")
    assert not is_stale(screen, "denoised")


def test_parameters_are_not_offered_in_an_exported_page(screen, scene, tmp_path):
    from evcrisp.viewer import ExportOptions, export

    path = tmp_path / "page.html"
    options = ExportOptions(window_us=WINDOW_US, n_windows=1, front_points=0, filters=("baf",))
    export(scene.events, path, options)
    screen.open(path.as_uri())
    assert not screen.page.is_visible("#method-options")
    assert not screen.page.is_visible("#save-events")


def test_defaults_of_own_parts_are_valid_json(monkeypatch):
    class Odd:
        name = "odd"

        def __init__(self, limit: float = float("inf"), level: float = 2.0) -> None: ...

    monkeypatch.setitem(FILTERS._loaded, "odd", Odd)
    options = part_options("filter")
    assert options["odd"] == {"limit": None, "level": 2.0}
    assert json.loads(json.dumps(options, allow_nan=False)) == options


def test_page_without_panes_shows_a_message(screen, url):
    names = "raw,aligned,denoised,compare,frame,contrast,confidence,cloud,layers,front"
    for layout in ("grid", "large"):
        screen.page.goto("about:blank")
        screen.open(f"{url}#t=40000&hidden={names}&layout={layout}")
        screen.page.keyboard.press("p")
        screen.wait_for_message("No pane with a picture is shown.")
