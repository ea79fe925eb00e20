"""Run every command that the documentation shows in a `console` block."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands(page):
    """Return the evcrisp commands of a page."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(), re.S)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [line for line in lines if line.startswith("evcrisp ")]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands(page)], ids=lambda page: page.name
)
def test_commands_of_the_page_succeed(page, tmp_path):
    environment = {**os.environ, "COLUMNS": "100"}
    for command in commands(page):
        arguments = shlex.split(command, comments=True)[1:]
        result = subprocess.run(
            [sys.executable, "-m", "evcrisp", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"


def test_ci_runs_the_test_command_of_the_readme():
    block = re.search(r"```sh\n(.*pytest.*)\n```", (ROOT / "README.md").read_text())
    assert block is not None
    ci = (ROOT / ".ci" / "run").read_text().replace(" --quiet", "")
    assert block.group(1) in ci
