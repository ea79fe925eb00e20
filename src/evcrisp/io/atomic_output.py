"""Write to a temporary name, then rename: a failure never leaves half a file, nor costs the old one."""

import errno
import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evcrisp.core.errors import EvError, OutputError, Setting

#: Folders that evcrisp writes hold this file; others are never replaced.
FOLDER_MARK = "meta.json"


@contextmanager
def replacing(path: Path, *, overwrite: bool) -> Generator[Path, None, None]:
    """Yield a temporary path beside ``path`` and rename it there when the block succeeds.

    The block creates a file or a folder. When it raises, what it wrote is removed and an older
    ``path`` stays as it was. A link is followed: its target is what is replaced. What the system
    says of the temporary file becomes an `OutputError` that names ``path``.
    """
    _check_target(path, overwrite=overwrite)
    target = Path(os.path.realpath(path))
    # Nobody else has this name, and the suffixes stay last, since writers choose by them.
    suffixes = "".join(target.suffixes[-2:])[-32:]
    temporary = target.with_name(f".part-{secrets.token_hex(8)}{suffixes}")
    try:
        yield temporary
        _sync(temporary)
        if target.is_dir():
            _swap_folder(temporary, target)
        elif overwrite or temporary.is_dir():
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        else:
            _rename_if_free(temporary, target)
    except OSError as error:
        _remove(temporary)
        if _is_of(temporary, error):
            raise _not_written(path, error) from error
        raise
    except BaseException:
        _remove(temporary)
        raise


@contextmanager
def naming(path: Path) -> Generator[None, None, None]:
    """Let what the system complains of inside the block say which file it is about.

    A disk that is full says so without the name of the file, and several are open at a time.
    """
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def refuse_inputs(output: Path, *inputs: Path | None) -> None:
    """Raise if an output would replace one of the inputs, by whatever name or link it is called."""
    for given in inputs:
        clash = None if given is None else _clash(output, given)
        if clash is not None:
            raise OutputError(f"{output} {clash}. Choose another name.")


def _clash(output: Path, given: Path) -> str | None:
    """Say what an output has to do with an input that it would replace; None if nothing."""
    if not output.exists() or not given.exists():
        return None
    if output.samefile(given):  # hard links, too
        return "is the input itself"
    target, source = (Path(os.path.realpath(path)) for path in (output, given))
    if target.is_dir() and source.is_relative_to(target):
        return f"holds the input {given}"
    if target.parent == source and (target.name in _NAMES or target.suffix in _SUFFIXES):
        return f"is part of the input {given}"
    return None


#: Files that recordings consist of which are folders. Others may be results that were put there.
_NAMES = (FOLDER_MARK, "metadata.yaml", "events.txt", "events.txt.gz", "imu.txt", "calib.txt")
_SUFFIXES = (".npy", ".db3", ".mcap")


#: Complaints of pipes and other programs, which are about no file.
_OF_NO_FILE = (ConnectionError, ChildProcessError, TimeoutError)


def _is_of(temporary: Path, error: OSError) -> bool:
    """Say whether the system complains of the temporary file, or of one that belongs to it."""
    if isinstance(error, (EvError, *_OF_NO_FILE)) or error.errno is None:
        return False
    if error.filename is None:
        return True
    # Parts of an archive have names that begin like it; files of a folder lie in it.
    return os.fsdecode(error.filename).startswith(str(temporary))


def _not_written(path: Path, error: OSError) -> OutputError:
    failure = OutputError(f"{path} could not be written: {error.strerror}.")
    failure.errno = error.errno
    return failure


def _check_target(path: Path, *, overwrite: bool) -> None:
    if path.name in ("", ".."):
        raise OutputError(f"'{path}' is a folder, not a name for an output.")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OutputError(f"{path} is not a regular file. Choose another name.")
    if path.is_dir():
        _check_folder(path)
    if path.exists() and not overwrite:
        raise OutputError(
            f"{path} exists already.", remedy=Setting("Replace it", "overwrite", True)
        )
    parent = Path(os.path.realpath(path)).parent
    if not parent.is_dir():
        if parent.exists():
            raise OutputError(f"{path.parent} is not a folder. Choose another name.")
        raise OutputError(f"The folder {path.parent} does not exist. Create it first.")
    if not os.access(parent, os.W_OK):  # said before the work, not after it
        raise OutputError(f"{path} could not be written: {os.strerror(errno.EACCES)}.")


def _check_folder(path: Path) -> None:
    """Raise unless the folder is one that evcrisp has written; others are never replaced."""
    names = {entry.name for entry in path.iterdir()}
    strangers = sorted(name for name in names if not name.endswith((".npy", ".json")))
    if FOLDER_MARK in names and not strangers:
        return
    what = "an empty folder"
    if names:
        what = f"a folder that holds other files ({(strangers or sorted(names))[0]})"
    raise OutputError(f"{path} is {what}. Choose the name of a file, such as one in it.")


def _rename_if_free(temporary: Path, target: Path) -> None:
    """Rename unless somebody else has made the target in the meantime."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise OutputError(f"{target} was made by somebody else in the meantime.") from None
    except OSError:  # a file system without hard links
        if target.exists():
            raise OutputError(f"{target} was made by somebody else in the meantime.") from None
        temporary.replace(target)
    else:
        temporary.unlink()


def _swap_folder(new: Path, path: Path) -> None:
    """Put a new folder in place of an old one; the old one comes back if that fails."""
    if not new.is_dir():
        raise OutputError(f"{path} is a folder, which a file cannot replace. Choose another name.")
    old = path.with_name(f".old-{secrets.token_hex(8)}")
    path.rename(old)
    try:
        new.rename(path)
    except BaseException:
        old.rename(path)
        raise
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
