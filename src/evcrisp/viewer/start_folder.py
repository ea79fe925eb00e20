"""Recordings of the start folder, the only ones that the page can open."""

import os
from collections.abc import Iterator
from pathlib import Path

from evcrisp.core.errors import ConfigError, EvError
from evcrisp.io.reading import detect

#: Entries that are looked at, and levels below the folder: a home folder must not take minutes.
MAX_ENTRIES, MAX_DEPTH = 2_000, 3

#: Text files are recordings only with these names; others are notes and tables.
_TEXT_SUFFIXES = (".txt", ".csv", ".txt.gz", ".csv.gz")


def list_recordings(folder: Path) -> dict[str, Path]:
    """Return the recordings in a folder by their relative names, sorted.

    Hidden entries, and links that lead out of the folder, are left out.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise ConfigError("must be a folder", parameter="folder", value=str(folder))
    found: dict[str, Path] = {}
    for n_seen, path in enumerate(_walk(root, root, MAX_DEPTH)):
        if n_seen >= MAX_ENTRIES:
            break
        if _is_recording(path):
            found[path.relative_to(root).as_posix()] = path
    return dict(sorted(found.items()))


def _walk(folder: Path, root: Path, depth: int) -> Iterator[Path]:
    """Yield files, and folders that are recordings, from the top down."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:  # no permission
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith(".") or not path.resolve().is_relative_to(root):
            continue
        if not path.is_dir() or _is_recording(path):
            yield path
        elif depth > 0:
            yield from _walk(path, root, depth - 1)


def _is_recording(path: Path) -> bool:
    if path.is_file() and path.name.lower().endswith(_TEXT_SUFFIXES):
        return path.name.lower().startswith("events")
    try:
        detect(path)
    except (EvError, OSError):
        return False
    return True


def find_recording(folder: Path | None, name: str) -> Path:
    """Return a recording of the folder by its name in the list; no other path is possible."""
    if folder is None:
        raise ConfigError("No start folder was given. Start the viewer with `--folder`.")
    path = list_recordings(folder).get(name)
    if path is None:
        raise ConfigError(f"The start folder has no recording {name[:200]!r}.")
    return path
