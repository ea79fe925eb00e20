"""The paper about the software agrees with the software, and its references exist."""

import re
from pathlib import Path

import pytest

from evcrisp.filters import FILTERS
from evcrisp.io import READERS, WRITERS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def paper():
    return (ROOT / "paper.md").read_text()


def test_citations_are_the_entries_of_the_bibliography(paper):
    body = paper.split("---", 2)[2]
    cited = set(re.findall(r"@([a-z]+\d*)", body))
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text(), re.M)
    assert len(entries) == len(set(entries))
    assert cited == set(entries)


def test_entries_have_a_title_an_author_and_a_year():
    for entry in re.split(r"\n(?=@)", (ROOT / "paper.bib").read_text()):
        for field in ("title", "author", "year"):
            assert re.search(rf"^\s+{field} = \{{.+\}},?$", entry, re.M), entry


def test_counts_are_those_of_the_registries(paper):
    text = " ".join(paper.split())
    assert f"reads {len(READERS)} and writes {len(WRITERS)} file formats" in text
    assert f"has {len(FILTERS) - 1} filters" in text
    assert f"| noise filters | {len(FILTERS) - 1} |" in text


def test_sections_are_those_of_the_journal(paper):
    headings = re.findall(r"^# (.*)$", paper, re.M)
    assert headings[:3] == ["Summary", "Statement of need", "State of the field"]
    assert headings[-1] == "References"


def test_rows_of_the_comparison_are_complete(paper):
    rows = [line.count("|") for line in paper.splitlines() if line.startswith("|")]
    assert len(rows) > 10
    assert set(rows) == {9}
