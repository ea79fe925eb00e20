"""Folders of killed processes do not stay for ever."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evcrisp.viewer.temp_dir import scratch_folder


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be asked whether they live")
def test_what_a_killed_process_left_behind_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = tmp_path / f"evcrisp-view-{dead.pid}-abc"
    alive = tmp_path / f"evcrisp-view-{os.getpid()}-abc"
    foreign = tmp_path / "evcrisp-view-of-somebody"
    for folder in (left, alive, foreign):
        folder.mkdir()
        (folder / "times.i8").write_bytes(b"x")
    made = scratch_folder()
    assert not left.exists()
    assert alive.exists()
    assert foreign.exists()
    assert Path(made).parent == tmp_path
