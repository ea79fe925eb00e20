"""Write to a temporary name, then rename: a failure leaves the old file and no partial one."""

import errno
import logging
import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from evcrisp.core.errors import EvError, OutputError, Setting
from evcrisp.core.messages import counted
from evcrisp.io.exchange import exchange
from evcrisp.io.leftovers import owned_name, remove_leftovers

logger = logging.getLogger(__name__)

#: Marks a folder as an output of evcrisp; other folders are never replaced.
FOLDER_MARK = "meta.json"
#: Name, without suffix, of the only data file in a ROS 2 bag of evcrisp.
BAG_STEM = "evcrisp_0"
_BAGS = tuple({"metadata.yaml", BAG_STEM + suffix} for suffix in (".mcap", ".db3"))


_PART = ".part-"


@cache  # a run may write thousands of files to one folder
def _remove_leftovers_once(folder: Path) -> None:
    if removed := remove_leftovers(folder, _PART):
        logger.info("Removed %s of a run that was killed.", counted(len(removed), "temporary file"))


@contextmanager
def replacing(path: Path, *, overwrite: bool) -> Generator[Path, None, None]:
    """Yield a temporary path beside ``path`` and rename it there when the block succeeds.

    The block creates a file or a folder. If it raises, its output is removed and an older ``path``
    is kept. A link is followed: its target is replaced. An `OSError` about the temporary file
    becomes an `OutputError` that names ``path``.
    """
    _check_target(path, overwrite=overwrite)
    target = Path(os.path.realpath(path))
    # The name is unique. The suffixes stay last, because writers depend on them.
    suffixes = "".join(target.suffixes[-2:])[-32:]
    _remove_leftovers_once(target.parent)
    temporary = target.with_name(owned_name(_PART, suffixes))
    try:
        yield temporary
        _sync(temporary)
        if temporary.is_dir():
            _place_folder(temporary, target, overwrite=overwrite)
        elif target.is_dir():
            raise OutputError(f"{target} is a folder; a file does not replace it. {_OTHER_NAME}")
        elif overwrite:
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        else:
            _rename_if_free(temporary, target)
    except BaseException as error:
        _remove(temporary)
        if isinstance(error, OSError) and _concerns(temporary, error):
            failure = OutputError(f"{path} could not be written: {error.strerror}.")
            failure.errno = error.errno
            raise failure from error
        raise


@contextmanager
def withdrawing(path: Path, *, overwrite: bool) -> Generator[None, None, None]:
    """Remove an old file that describes others when the block succeeds, before they are renamed.

    Enter it after the outputs: a program that is killed between the renames leaves no description
    beside files of another run.
    """
    yield
    if overwrite:
        Path(os.path.realpath(path)).unlink(missing_ok=True)


@contextmanager
def making_folder(folder: Path) -> Generator[None, None, None]:
    """Create a folder with its parents; after an error, remove those that were created and are empty."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # such as a folder that is not empty
            for path in made:
                path.rmdir()
        raise


@contextmanager
def naming(path: Path) -> Generator[None, None, None]:
    """Add the name of a file to an `OSError` without one, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def refuse_inputs(output: Path, *inputs: Path | None) -> None:
    """Raise if an output would replace one of the inputs, also through a link."""
    for given in inputs:
        clash = None if given is None else _clash(output, given)
        if clash is not None:
            raise OutputError(f"{output} {clash}.", remedy=_OTHER_NAME)


def _clash(output: Path, given: Path) -> str | None:
    """Describe why an output would replace an input; None if it would not."""
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


_OTHER_NAME = "Choose another name."
#: Files of recordings that are folders. Other files in such a folder may be replaced.
_NAMES = (FOLDER_MARK, "metadata.yaml", "events.txt", "events.txt.gz", "imu.txt", "calib.txt")
_SUFFIXES = (".npy", ".db3", ".mcap")

#: Errors of pipes and other programs, which concern no file.
_OF_NO_FILE = (ConnectionError, ChildProcessError, TimeoutError)
#: Errors of a rename to the name of a folder that has files.
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST)


def _concerns(temporary: Path, error: OSError) -> bool:
    """Return whether an error concerns the temporary file, or one that belongs to it."""
    if isinstance(error, (EvError, *_OF_NO_FILE)) or error.errno is None:
        return False
    if error.filename is None:
        return True
    # Parts of an archive have names that start with its name; files of a folder have its path.
    return os.fsdecode(error.filename).startswith(str(temporary))


def _check_target(path: Path, *, overwrite: bool) -> None:
    if path.name in ("", ".."):
        raise OutputError(f"'{path}' is a folder, not a name for an output.")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OutputError(f"{path} is not a regular file.", remedy=_OTHER_NAME)
    if path.is_dir():
        _check_folder(path)
    if path.exists() and not overwrite:
        remedy = Setting("Replace it", "overwrite", True)
        raise OutputError(f"{path} exists already.", remedy=remedy)
    parent = Path(os.path.realpath(path)).parent
    if not parent.is_dir():
        if parent.exists():
            raise OutputError(f"{path.parent} is not a folder.", remedy=_OTHER_NAME)
        raise OutputError(f"The folder {path.parent} does not exist.", remedy="Create it first.")
    if not os.access(parent, os.W_OK):  # before the work, not after it
        raise OutputError(f"{path} could not be written: {os.strerror(errno.EACCES)}.")


def _check_folder(path: Path) -> None:
    """Raise unless evcrisp has written the folder; other folders are never replaced."""
    names = _names_in(path)
    other = sorted(name for name in names or () if not name.endswith((".npy", ".json")))
    if names is None or names in _BAGS or (FOLDER_MARK in names and not other):
        return
    what = "an empty folder"
    if names:
        what = f"a folder that holds other files ({(other or sorted(names))[0]})"
    remedy = "Choose the name of a file, such as one in it."
    raise OutputError(f"{path} is {what}.", remedy=remedy)


def _names_in(folder: Path) -> set[str] | None:
    """Return the names of the files in a folder; None if another writer has moved it."""
    try:
        while True:  # a folder that was replaced meanwhile is being emptied
            before = folder.stat()
            names = {entry.name for entry in folder.iterdir()}
            after = folder.stat()
            if (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns):
                return names
    except FileNotFoundError:
        return None


def _rename_if_free(temporary: Path, target: Path) -> None:
    """Rename unless another program has created the target in the meantime."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise _made_meanwhile(target) from None
    except OSError:  # a file system without hard links
        if target.exists():
            raise _made_meanwhile(target) from None
        temporary.replace(target)
    else:
        temporary.unlink()


def _made_meanwhile(target: Path) -> OutputError:
    return OutputError(f"Another program has created {target} in the meantime.")


def _place_folder(new: Path, path: Path, *, overwrite: bool) -> None:
    """Put a new folder in place of an old one, which comes back if that fails.

    Where names cannot be exchanged, this takes two renames. Between them, another writer can put its
    folder in the free place. The old folder is outdated then, and both renames are repeated with the
    folder of the other.
    """
    while True:
        old = path.with_name(f".old-{secrets.token_hex(8)}")
        if overwrite and path.is_dir():
            _check_folder(path)
            if exchange(new, path):
                _remove(new)
                return
            with suppress(FileNotFoundError):  # another writer has moved it
                path.rename(old)
        try:
            new.rename(path)
        except BaseException as error:
            is_taken = isinstance(error, OSError) and error.errno in _TAKEN
            if is_taken:
                _remove(old)
            elif old.exists():
                old.rename(path)
            if is_taken and not overwrite:
                raise _made_meanwhile(path) from None
            if not is_taken:
                raise
        else:
            _remove(old)
            return


def _sync(path: Path) -> None:
    """Write the bytes to the disk before the final name points to them."""
    for file in [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]:
        with file.open("rb+") as handle:
            os.fsync(handle.fileno())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
