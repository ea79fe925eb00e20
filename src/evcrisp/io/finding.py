"""Find recordings below a folder."""

import logging
from collections.abc import Iterator
from pathlib import Path

from evcrisp.core.errors import EvError
from evcrisp.io.reading import detect
from evcrisp.io.registry import READERS

logger = logging.getLogger(__name__)

#: Ends of names that are not recordings, although a reader accepts their suffix.
_BESIDE = (".truth.npz", "calib.txt", "imu.txt", "groundtruth.txt", "motion.txt", "labels.npz")


def walk_recordings(folder: Path, excluded: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Yield the files and folders of a tree that a reader recognizes, sorted.

    Hidden entries, files beside recordings, and results of evcrisp are left out; empty files and files
    that cannot be opened are too, with a warning if they have the suffix of a recording.
    """
    for path in sorted(folder.iterdir()):
        if path in excluded:
            continue
        if path.name.startswith(".") or path.name.lower().endswith(_BESIDE) or _is_result(path):
            continue
        if not is_recognized(path):
            if path.is_dir():
                yield from walk_recordings(path, excluded)
            elif path.name.lower().endswith(_recording_suffixes()):
                logger.warning("%s is skipped: it is empty, or cannot be opened.", path)
        elif not path.is_dir() or not any(path in file.parents for file in excluded):
            yield path


def is_recognized(path: Path) -> bool:
    """Return whether a reader recognizes a file or folder."""
    try:
        detect(path)
    except (EvError, OSError):
        return False
    return True


def _recording_suffixes() -> tuple[str, ...]:
    return tuple(suffix for reader in READERS.values() for suffix in reader.suffixes)


def _is_result(path: Path) -> bool:
    """Return whether a folder holds results of experiments or runs, which may lie among recordings."""
    is_store = (path / "digests.json").is_file() and (path / "results").is_dir()
    return is_store or ((path / "summary.json").is_file() and (path / "motion.csv").is_file())
