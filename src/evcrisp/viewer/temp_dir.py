"""Folders for files that may be larger than memory, and the removal of those left behind."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

_PREFIX = "evcrisp-view-"


def scratch_folder() -> str:
    """Make a folder; the caller removes it.

    What ``TMPDIR`` says counts. Without it ``/tmp`` is often kept in memory, ``/var/tmp`` never. A
    process that was killed could not remove its own: the next one does.
    """
    is_free = "TMPDIR" not in os.environ and os.access("/var/tmp", os.W_OK)
    parent = "/var/tmp" if is_free else tempfile.gettempdir()
    _sweep(Path(parent))
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent)


def _sweep(parent: Path) -> None:
    """Remove the folders of processes that are no more."""
    if sys.platform == "win32":  # there is no harmless way to ask whether a process lives
        return
    for folder in parent.glob(f"{_PREFIX}*-*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not _lives(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True  # somebody else's, or no number of a process: not ours to judge
    return True
