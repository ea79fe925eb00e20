"""Names of temporary files that tell their process, and removal of those of dead processes."""

import hashlib
import os
import re
import secrets
import shutil
import socket
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

#: Host, process and random part of a name.
_OWNER = re.compile(r"([0-9a-f]{12})-([1-9][0-9]{0,9})-[0-9a-f]{16}")


def owned_name(prefix: str, suffix: str = "") -> str:
    """Return a unique name for a temporary file or folder of this process."""
    return f"{prefix}{_host()}-{os.getpid()}-{secrets.token_hex(8)}{suffix}"


def remove_leftovers(folder: Path, prefix: str) -> list[str]:
    """Remove files and folders of processes of this host that were killed; return their names.

    Those of running processes, of other hosts on a shared disk and of other containers stay.
    """
    removed: list[str] = []
    if sys.platform == "win32":  # os.kill(pid, 0) would end the process there
        return removed
    with suppress(OSError):
        for entry in os.scandir(folder):
            owner = _OWNER.match(entry.name.removeprefix(prefix))
            if owner is None or not entry.name.startswith(prefix) or owner[1] != _host():
                continue
            if not _is_running(int(owner[2])):
                _remove(Path(entry.path))
                removed.append(entry.name)
    return removed


@cache
def _host() -> str:
    """Return a digest of this machine and of its numbering of processes.

    It stays the same after a restart. Containers number their processes on their own.
    """
    facts = [socket.gethostname()]
    for path in ("/etc/machine-id", "/proc/self/ns/pid"):
        with suppress(OSError):
            is_link = Path(path).is_symlink() and path.startswith("/proc")
            facts.append(str(Path(path).readlink()) if is_link else Path(path).read_text())
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # a process of another user, or not a process id
        return True
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
