"""A run that replaces results and is killed between its renames."""

import subprocess
import sys

import pytest

import evcrisp

pytestmark = pytest.mark.slow

KILLED_RUN = """
import os, sys
from pathlib import Path
import evcrisp
real, calls = Path.replace, []

def replace(self, target):
    calls.append(target)
    if len(calls) == int(sys.argv[3]):
        os._exit(9)
    return real(self, target)

Path.replace = replace
evcrisp.run(sys.argv[1], sys.argv[2], method="cmax", motion="translation", overwrite=True)
"""


def content(folder):
    """Return the files of the results."""
    files = (path for path in folder.iterdir() if not path.name.startswith("."))
    return {path.name: path.read_bytes() for path in files}


@pytest.mark.parametrize("n_renames", range(6))
def test_summary_is_only_beside_files_of_its_run(tmp_path, n_renames):
    path, folder = tmp_path / "a.npz", tmp_path / "out"
    scene = evcrisp.simulate(duration_us=30_000, seed=1)
    evcrisp.write(path, scene.events)
    evcrisp.run(path, folder)
    old = content(folder)
    script = [sys.executable, "-c", KILLED_RUN, str(path), str(folder), str(n_renames + 1)]
    code = subprocess.run(script, check=False).returncode
    assert code == (9 if n_renames < 5 else 0)
    found = content(folder)
    assert len(old) == 5
    if n_renames < 5:
        assert found.keys() == old.keys() - {"summary.json"}
    evcrisp.run(path, folder, method="cmax", motion="translation", overwrite=True)
    if n_renames == 5:
        assert found == content(folder) != old
    assert "summary.json" in content(folder)
