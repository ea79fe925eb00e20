"""Find the recordings that are meant: files, folders that hold recordings, patterns."""

import glob
import logging
import os
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.io.finding import is_recognized, walk_recordings
from evcrisp.io.reading import open_recording

logger = logging.getLogger(__name__)

#: Text files below a folder are recordings only if their first lines are events; others are notes.
_TEXT_SUFFIXES = (".txt", ".csv", ".txt.gz", ".csv.gz")


def find_inputs(paths: Iterable[str | PathLike[str]], output: Path) -> list[Path]:
    """Return the recordings of files, folders and patterns, each once, in the order given.

    Folders are searched with their sub-folders, without ``output``. Files that are named must exist,
    but are not opened: whether they can be read is known later.
    """
    if isinstance(paths, (str, PathLike)):
        paths = (paths,)
    found: dict[Path, Path] = {}
    for given in paths:
        for path in _recordings(os.fspath(given), output):
            found.setdefault(path.resolve(), path)
    if not found:
        raise ConfigError("No recording was given. Name files, folders or patterns.")
    return list(found.values())


def is_pattern(text: str) -> bool:
    """Return whether a text is a pattern such as ``*.raw``, and not the name of a file."""
    return glob.has_magic(text) and not Path(text).exists()


def holds_recordings(path: Path) -> bool:
    """Return whether a path is a folder that is no recording itself."""
    return path.is_dir() and not is_recognized(path)


def _recordings(text: str, output: Path) -> Iterator[Path]:
    if is_pattern(text):
        # Path.glob takes no absolute patterns.
        matches = sorted(glob.glob(text, recursive=True))  # noqa: PTH207
        if not matches:
            raise FileNotFoundError(f"No file matches {text!r}.")
        for match in matches:
            yield from _recordings_of_path(Path(match), output)
        return
    if not text or not Path(text).exists():
        raise FileNotFoundError(f"{text} does not exist." if text else "A name is empty.")
    yield from _recordings_of_path(Path(text), output)


def _recordings_of_path(path: Path, output: Path) -> Iterator[Path]:
    if not holds_recordings(path):
        yield path
        return
    target = output.resolve()
    inside = (p for p in walk_recordings(path) if not p.resolve().is_relative_to(target))
    found = [p for p in inside if _has_events(p)]
    if not found:
        raise ConfigError(f"The folder {path} has no recording, and is none itself.")
    yield from found


def _has_events(path: Path) -> bool:
    """Return False for a text that does not start with events, and say so."""
    if path.is_dir() or not path.name.lower().endswith(_TEXT_SUFFIXES):
        return True
    try:
        with open_recording(path) as recording:
            next(recording.chunks(), None)
    except FormatError as error:
        if not error.n_before:
            logger.warning("%s is skipped: it does not start with events.", path)
            return False
    return True
