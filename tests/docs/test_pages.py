"""Pages that describe the program agree with it."""

import ast
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from evcrisp.filters import FILTERS
from evcrisp.io import READERS, WRITERS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DECISIONS = sorted((DOCS / "decisions").glob("*/*.md"))

#: Most files in one folder of the documentation.
MAX_FILES = 20


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_command_line_page_equals_the_help():
    script = load(DOCS / "scripts" / "make_cli.py")
    assert script.PAGE.read_text() == script.page(), "run: python docs/scripts/make_cli.py"


def test_formats_page_has_a_row_for_each_format():
    table = (DOCS / "reference" / "formats.md").read_text().partition("\n## ")[0]
    rows = {
        line.split("|")[1].strip(" `"): line
        for line in table.splitlines()
        if line.startswith("| `")
    }
    assert set(rows) == set(READERS)
    for name, row in rows.items():
        assert bool(row.split("|")[4].strip()) == (name in WRITERS), name


def test_formats_page_lists_the_sensor_data_that_writers_keep():
    page = (DOCS / "reference" / "formats.md").read_text()
    table = page.partition("## Sensor data")[2].partition("\n## ")[0]
    listed = {}
    for line in table.splitlines():
        if line.startswith("| `"):
            names, *cells = line.strip("|").split("|")
            kept = {
                kind
                for kind, cell in zip(("imu", "triggers", "frames"), cells, strict=True)
                if cell.strip()
            }
            listed |= dict.fromkeys(re.findall(r"`(.+?)`", names), kept)
    written = {name: set(kind.keeps) - {"stamp_offset"} for name, kind in WRITERS.items()}
    assert listed == {name: kept for name, kept in written.items() if kept}


def test_api_page_lists_every_filter():
    page = (DOCS / "reference" / "api.md").read_text()
    for kind in FILTERS.values():
        assert f"evcrisp.filters.{kind.__name__}" in page


def test_api_page_lists_every_public_name():
    stub = ast.parse((ROOT / "src" / "evcrisp" / "__init__.pyi").read_text())
    public = {
        alias.asname
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    page = (DOCS / "reference" / "api.md").read_text()
    documented = set(re.findall(r"`evcrisp\.(\w+)`|:: (?:evcrisp\.)?(\w+)$", page, re.M))
    missing = public - {name for pair in documented for name in pair}
    assert not missing


def test_api_page_names_existing_objects():
    module = "evcrisp"
    page = (DOCS / "reference" / "api.md").read_text()
    for kind, name in re.findall(r"^\.\. (\w+):: ([\w.]+)$", page, re.M):
        if kind == "currentmodule":
            module = name
        elif kind != "toctree":
            full = name if name.startswith("evcrisp.") else f"{module}.{name}"
            assert resolve(full) is not None


def resolve(name):
    """Return the module or the attribute of a module with a dotted name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        parent, _, attribute = name.rpartition(".")
        return getattr(resolve(parent), attribute)


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_decision_has_all_sections(page):
    headings = re.findall(r"^## (.*)$", page.read_text(), re.M)
    assert headings == ["Context", "Measurement", "Command", "Alternatives"]


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_commands_of_a_decision_exist(page):
    text = page.read_text()
    for path in re.findall(r"\b(?:tests|docs)/[\w/.]+", text):
        assert (ROOT / path).exists(), path
    for module in re.findall(r"python -m (benchmarks[\w.]+)", text):
        assert (ROOT / (module.replace(".", "/") + ".py")).is_file(), module


def test_decisions_are_listed():
    index = (DOCS / "decisions" / "index.md").read_text().splitlines()
    folder = DOCS / "decisions"
    pages = {page.relative_to(folder).with_suffix("").as_posix() for page in DECISIONS}
    assert pages == {line for line in index if re.fullmatch(r"\w+/[\w-]+", line)}


def test_folders_of_the_documentation_are_small():
    for folder in [DOCS, *(path for path in DOCS.rglob("*") if path.is_dir())]:
        if not {"_build", "generated"} & set(folder.parts):
            assert sum(path.is_file() for path in folder.iterdir()) <= MAX_FILES, folder


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_to_files_exist(page):
    for target in re.findall(r"\]\(([^)#\s]+)", (ROOT / page).read_text()):
        if "://" not in target:
            assert (ROOT / target).exists(), target
