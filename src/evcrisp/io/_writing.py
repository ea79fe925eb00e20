"""Write to a temporary name, then rename: a failure never leaves half a file, nor costs the old one."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evcrisp.errors import OutputError


@contextmanager
def replacing(path: Path, *, overwrite: bool) -> Generator[Path, None, None]:
    """Yield a temporary path beside ``path`` and rename it there when the block succeeds.

    The block creates a file or a folder. When it raises, what it wrote is removed and an older
    ``path`` stays as it was.
    """
    if path.exists() and not overwrite:
        raise OutputError(f"{path} exists already. Choose another name, or allow overwriting.")
    if not path.parent.is_dir():
        raise OutputError(f"The folder {path.parent} does not exist. Create it first.")
    # The suffix stays last: writers choose compression by it.
    temporary = path.with_name(f".part-{os.getpid()}-{path.name}")
    try:
        yield temporary
        _sync(temporary)
        if path.is_dir():
            _swap_folder(temporary, path)
        else:
            temporary.replace(path)
    except BaseException:
        _remove(temporary)
        raise


def _swap_folder(new: Path, path: Path) -> None:
    """Put a new folder in place of one that holds the same kind of files, and of no other."""
    names = {entry.name for entry in new.iterdir()} if new.is_dir() else set()
    strangers = sorted({entry.name for entry in path.iterdir()} - names)
    if not names or strangers:
        raise OutputError(
            f"{path} is a folder that holds other files{f' ({strangers[0]})' if strangers else ''}. "
            "Choose another name."
        )
    old = path.with_name(f".{path.name}.{os.getpid()}.old")
    path.rename(old)
    new.rename(path)
    shutil.rmtree(old)


def _sync(path: Path) -> None:
    """Make sure that the bytes are on the disk before the name points to them."""
    for file in [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]:
        with file.open("rb+") as handle:
            os.fsync(handle.fileno())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
