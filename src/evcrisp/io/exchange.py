"""Exchange the names of two files or folders in one step, where the system can."""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

#: Flag of `renameat2` (Linux) and of `renamex_np` (macOS): exchange both names.
_EXCHANGE = 2
#: Paths are relative to the working folder (Linux).
_WORKING_FOLDER = -100


def exchange(first: Path, second: Path) -> bool:
    """Exchange two names; return False if the system or the file system cannot.

    Nobody sees one of the names missing, also if the program is killed.
    """
    call = _call()
    return call is not None and call(os.fsencode(first), os.fsencode(second)) == 0


@cache
def _call() -> Any:
    """Return a function of two paths that returns 0 on success; None without one."""
    if sys.platform == "win32":
        return None
    try:
        library = ctypes.CDLL(None)
        if sys.platform == "darwin":
            swap = library.renamex_np
            swap.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint)
            return lambda first, second: swap(first, second, _EXCHANGE)
        rename = library.renameat2
        at, name = ctypes.c_int, ctypes.c_char_p
        rename.argtypes = (at, name, at, name, ctypes.c_uint)
        return lambda first, second: rename(
            _WORKING_FOLDER, first, _WORKING_FOLDER, second, _EXCHANGE
        )
    except (OSError, AttributeError):  # an older C library
        return None
