"""Unique names for the results of recordings."""

import hashlib
import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evcrisp.core.errors import EvError
from evcrisp.io.reading import detect
from evcrisp.pipeline.run_log import stem_of_name

logger = logging.getLogger(__name__)


def result_names(recordings: Sequence[Path], format: str | None = None) -> list[str]:
    """Return a name for each recording: its stem, or more of its path where stems are equal.

    The same recordings get the same names, in any order. Names differ also on file systems that
    ignore case. A message lists the longer names.
    """
    levels = dict.fromkeys(recordings, 0)
    while True:
        names = {path: _name(path, level, format) for path, level in levels.items()}
        counts = Counter(name.casefold() for name in names.values())
        equal = [path for path, name in names.items() if counts[name.casefold()] > 1]
        if not equal:
            break
        for path in equal:
            levels[path] += 1
    for path, level in levels.items():
        if level:
            logger.warning(
                "Several recordings are named %s: the results of %s are in %s.",
                _name(path, 0, format),
                path,
                names[path],
            )
    return [names[path] for path in recordings]


def _name(path: Path, level: int, format: str | None) -> str:
    """Return the stem (level 0), the last parts of the path, or all of them with a hash."""
    parts = [part for part in path.absolute().parts[1:] if part != ".."]
    if level == 0:
        return _stem(path, format)
    if level <= len(parts):
        return "-".join(parts[-level:])
    digest = hashlib.sha256(str(path.absolute()).encode()).hexdigest()
    return f"{_stem(path, format)}-{digest[: 8 + level - len(parts)]}"


def _stem(path: Path, format: str | None) -> str:
    name = path.resolve().name if path.name in ("", "..") else path.name
    if format is None:
        try:
            format = detect(path).name
        except (EvError, OSError):
            return Path(name).stem or "recording"
    return stem_of_name(name, format)
