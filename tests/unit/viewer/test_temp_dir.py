"""Temporary folders."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evcrisp.io import leftovers
from evcrisp.viewer.event_store import make_temp_dir


@pytest.mark.skipif(sys.platform == "win32", reason="needs signal 0 of POSIX")
def test_folders_of_killed_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host, random = leftovers._host(), "0123456789abcdef"
    stale = tmp_path / f"evcrisp-view-{host}-{dead.pid}-{random}"
    alive = tmp_path / f"evcrisp-view-{host}-{os.getpid()}-{random}"
    other_host = tmp_path / f"evcrisp-view-{'0' * 12}-{dead.pid}-{random}"
    older = tmp_path / f"evcrisp-view-{dead.pid}-abc"  # does not tell its host
    foreign = tmp_path / "evcrisp-view-other"
    for folder in (stale, alive, other_host, older, foreign):
        folder.mkdir()
        (folder / "times.i8").write_bytes(b"x")
    made = make_temp_dir()
    assert not stale.exists()
    assert alive.exists()
    assert other_host.exists()
    assert older.exists()
    assert foreign.exists()
    assert Path(made).parent == tmp_path
