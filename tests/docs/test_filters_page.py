"""The page of filters agrees with the filters."""

import importlib.util
from pathlib import Path

from evcrisp.filters import FILTERS

DOCS = Path(__file__).parents[2] / "docs"


def test_table_is_up_to_date():
    spec = importlib.util.spec_from_file_location(
        "make_filters", DOCS / "scripts" / "make_filters.py"
    )
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PAGE.read_text() == script.page(), "run: python docs/scripts/make_filters.py"


def test_every_preset_is_described():
    page = (DOCS / "guide" / "filters.md").read_text()
    presets = {preset for kind in FILTERS.values() for preset in kind.presets}
    for preset in presets:
        assert f"| `{preset}` |" in page


def test_readme_counts_the_filters_without_raw():
    readme = (DOCS.parent / "README.md").read_text()
    built_in = [kind for kind in FILTERS.values() if kind.__module__.startswith("evcrisp.")]
    assert f"one of {len(built_in) - 1} filters" in readme


def test_bit_for_bit_is_claimed_for_compared_presets_only():
    """The README leaves the claim to the list, which knows what was compared."""
    readme = " ".join((DOCS.parent / "README.md").read_text().split())
    assert readme.count("bit for bit") == 1
    assert "`evcrisp filters` says which were compared bit for bit" in readme
