"""Temporary folders for files larger than memory, and removal of stale ones."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

_PREFIX = "evcrisp-view-"


def make_temp_dir() -> str:
    """Create a temporary folder; the caller removes it.

    The folder is in ``TMPDIR``, else in ``/var/tmp``, because ``/tmp`` is often kept in memory.
    Folders of processes that were killed are removed first.
    """
    use_var_tmp = "TMPDIR" not in os.environ and os.access("/var/tmp", os.W_OK)
    parent = "/var/tmp" if use_var_tmp else tempfile.gettempdir()
    _remove_stale(Path(parent))
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent)


def _remove_stale(parent: Path) -> None:
    if sys.platform == "win32":  # os.kill(pid, 0) would end the process there
        return
    for folder in parent.glob(f"{_PREFIX}*-*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not _is_running(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # a process of another user, or not a process id
        return True
    return True
