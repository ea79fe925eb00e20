"""Pages that are made from the program agree with it."""

import importlib.util
from pathlib import Path

from evcrisp.filters import FILTERS
from evcrisp.io import READERS, WRITERS

ROOT = Path(__file__).parents[2]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_line_page_is_the_programs_help():
    script = load(ROOT / "docs" / "scripts" / "make_cli.py")
    assert script.PAGE.read_text() == script.page(), "run: python docs/scripts/make_cli.py"


def test_every_format_has_a_row():
    rows = {
        line.split("|")[1].strip(" `"): line
        for line in (ROOT / "docs" / "reference" / "formats.md").read_text().splitlines()
        if line.startswith("| `")
    }
    assert set(rows) == set(READERS)
    for name, row in rows.items():
        assert bool(row.split("|")[4].strip()) == (name in WRITERS), name


def test_every_denoiser_is_in_the_api_page():
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    for denoiser in FILTERS.values():
        assert f"evcrisp.filters.{denoiser.__name__}" in page
