"""Methods and filters that are registered or installed beside the built-in ones."""

import json
import re

import pytest

from evcrisp import ConfigError, UnknownNameError
from evcrisp.estimators import ESTIMATORS
from evcrisp.filters import FILTERS
from evcrisp.viewer import ExportOptions, ViewOptions, export_html, serve
from evcrisp.viewer.bundle_format import read_bundle

pytestmark = pytest.mark.slow

PLUGIN = """
from evcrisp.estimators import ESTIMATORS
from evcrisp.filters import FILTERS

class Method(ESTIMATORS["cmax"]):
    name = "installed-method"

class Filter(FILTERS["baf"]):
    name = "installed-filter"
"""

ENTRY_POINTS = """
[evcrisp.estimators]
installed-method = evcrisp_plugin:Method

[evcrisp.filters]
installed-filter = evcrisp_plugin:Filter
"""


@pytest.fixture
def registered():
    """Register a method and a filter in this process only."""

    class Method(ESTIMATORS["cmax"]):
        name = "my-method"

    class Filter(FILTERS["baf"]):
        name = "my-filter"

    ESTIMATORS.register(Method)
    FILTERS.register(Filter)
    yield
    ESTIMATORS.unregister("my-method")
    FILTERS.unregister("my-filter")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package with a method and a filter."""
    (tmp_path / "evcrisp_plugin.py").write_text(PLUGIN)
    facts = tmp_path / "evcrisp_plugin-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: evcrisp-plugin\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    for registry in (ESTIMATORS, FILTERS):
        monkeypatch.setattr(registry, "_entry_points", None)
    yield
    ESTIMATORS.unregister("installed-method")
    FILTERS.unregister("installed-filter")


def settings_of(page):
    return json.loads(re.search(r'id="settings">(.*?)</script>', page, re.S).group(1))


def test_menus_list_registered_parts(registered, recording, connect):
    with serve(recording, method="my-method", filter="my-filter") as url:
        client, _ = connect(url)
        settings = settings_of(client.ask("").body.decode())
    choices = settings["choices"]
    assert choices["methods"] == list(ESTIMATORS)
    assert "my-method" in choices["methods"]
    assert "my-filter" in choices["filters"]
    assert "raw" not in choices["filters"]
    assert (settings["start"]["method"], settings["start"]["filter"]) == ("my-method", "my-filter")


@pytest.mark.parametrize(
    "request_",
    [{"kind": "estimate", "method": "my-method"}, {"kind": "filter", "filter": "my-filter"}],
)
def test_parts_of_this_process_fail_in_the_worker_with_a_remedy(
    registered, recording, connect, request_
):
    with serve(recording) as url:
        client, _ = connect(url)
        job = client.wait_for(client.ask("api/jobs", "POST", request_).json)
    assert job["state"] == "failed"
    assert "registered by the program that opened the viewer" in job["error"]
    assert "entry point in the group 'evcrisp." in job["error"]


def test_installed_parts_are_computed_by_the_worker(installed, recording, connect):
    window = {"start_us": 30_000, "duration_us": 20_000}
    with serve(recording) as url:
        client, _ = connect(url)
        choices = settings_of(client.ask("").body.decode())["choices"]
        results = [
            read_bundle(client.computed(kind="estimate", method=name, **window))
            for name in ("installed-method", "cmax")
        ]
        labels = [
            read_bundle(client.computed(kind="filter", filter=name, **window))[1]["flags"]
            for name in ("installed-filter", "baf")
        ]
    assert choices["methods"][-1] == "installed-method"
    assert choices["filters"][-1] == "installed-filter"
    assert results[0][0]["method"] == "installed-method"
    assert results[0][0]["theta"] == results[1][0]["theta"]
    assert labels[0].tolist() == labels[1].tolist()


def test_export_computes_registered_parts(registered, scene):
    options = ExportOptions(methods=("my-method",), filters=("my-filter",), front_points=0)
    settings = settings_of(export_html(scene.events, options, n_windows=1))
    assert settings["choices"]["methods"] == ["my-method"]
    assert {"estimate:my-method", "filter:my-filter"} <= set(settings["windows"][0])


@pytest.mark.parametrize(("name", "registry"), [("method", ESTIMATORS), ("filter", FILTERS)])
def test_objects_and_classes_are_refused_with_a_remedy(recording, name, registry):
    part = registry["cmax" if name == "method" else "baf"]
    for value in (part, part()):
        with pytest.raises(ConfigError, match=f"`{name}` must be a name") as caught:
            ViewOptions(path=recording, **{name: value})
        assert "installed package" in str(caught.value)
        with pytest.raises(ConfigError, match=f"`{name}` must be a name"):
            ExportOptions(**{f"{name}s": (value,)})


def test_unknown_names_raise_with_known_names(recording):
    with pytest.raises(UnknownNameError, match="Unknown filter 'bav'. Did you mean 'baf'"):
        ViewOptions(path=recording, filter="bav")
    with pytest.raises(UnknownNameError, match="Unknown method ''"):
        ViewOptions(path=recording, method="")
