"""The distributions hold what a user needs, and their metadata agree with the project."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import evcrisp

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def call(*words, **options):
    result = subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, check=False, **options
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder with the source distribution, and the wheel that is built from it."""
    pytest.importorskip("build", reason="build is not installed; it belongs to the extra dev")
    folder = tmp_path_factory.mktemp("dist")
    call("-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    return zipfile.ZipFile(built / f"evcrisp-{evcrisp.__version__}-py3-none-any.whl")


@pytest.mark.slow
def test_twine_accepts_both_distributions(built):
    pytest.importorskip("twine", reason="twine is not installed; it belongs to the extra dev")
    files = sorted(built.iterdir())
    assert len(files) == 2
    assert call("-m", "twine", "check", "--strict", *files).count("PASSED") == 2


@pytest.mark.slow
def test_wheel_holds_every_file_of_the_package_and_nothing_else(wheel):
    source = ROOT / "src"
    tracked = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "src/evcrisp"], capture_output=True, text=True, check=False
    ).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout: nothing tells which files belong to the package")
    package = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert package >= {str(Path(name).relative_to("src")) for name in tracked}
    assert all(name.startswith("evcrisp/") and (source / name).is_file() for name in package)


@pytest.mark.slow
def test_metadata_have_readme_license_and_python_versions(wheel):
    info = f"evcrisp-{evcrisp.__version__}.dist-info"
    metadata = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().startswith("# evcrisp")
    assert f"{info}/licenses/LICENSE" in wheel.namelist()
    minors = re.findall(r"Python :: 3\.(\d+)", "\n".join(metadata.get_all("Classifier")))
    assert minors == ["11", "12", "13", "14"]


@pytest.mark.slow
def test_source_distribution_holds_tests_docs_and_citation(built):
    with tarfile.open(built / f"evcrisp-{evcrisp.__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CITATION.cff", "LICENSE", "tests/conftest.py", "docs/index.md", ".ci/run"} <= names


@pytest.mark.slow
def test_installed_wheel_runs_the_demo_in_an_empty_folder(built, tmp_path):
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    call("-m", "pip", "install", "--quiet", "--no-deps", "--target", site, *built.glob("*.whl"))
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "100"}
    code = "import evcrisp; print(evcrisp.__file__)"
    assert call("-c", code, cwd=empty, env=environment).startswith(str(site))
    rows = call("-m", "evcrisp", "demo", cwd=empty, env=environment).splitlines()
    auto = next(row.split() for row in rows if row.startswith("auto "))
    assert float(auto[4]) > 0.98  # AUC
    assert not list(empty.iterdir())


def test_version_is_that_of_changelog_and_citation():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    citation = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert citation is not None
    assert citation.group(1) == evcrisp.__version__ == headings[0]


def test_project_has_no_addresses():
    assert "urls" not in PROJECT
