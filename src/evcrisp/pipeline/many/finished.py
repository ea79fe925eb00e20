"""Journal of started and finished recordings, so that the same command continues after an interruption."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evcrisp.io.atomic_output import naming
from evcrisp.pipeline.many.worker_task import Job

#: One line per recording that was started or finished; the last one of a name counts.
JOURNAL = "finished.jsonl"


class Finished:
    """Recordings that were started, and those with complete results, with settings and facts."""

    def __init__(self, folder: Path, settings: dict[str, Any] | None) -> None:
        self._path = folder / JOURNAL
        self._settings = json.loads(json.dumps(settings))
        self._entries = dict(_entries(self._path))

    def facts(self, job: Job) -> dict[str, Any] | None:
        """Return the facts of a recording whose results are complete and up to date, or None."""
        facts = self._entries.get(job.name, {}).get("facts")
        if facts is None or self._settings is None:
            return None
        return facts if self._entries[job.name] == self._finished(job, facts) else None

    def start(self, job: Job) -> bool:
        """Note that a recording is started; return whether its output may be replaced.

        It may if this journal has started it with the same settings, and it was not finished.
        """
        entry = self._started(job)
        may_replace = job.overwrite or self._entries.get(job.name) == entry
        if may_replace or not _sizes(job.target):
            self._append(entry)
        return may_replace

    def finish(self, job: Job, facts: dict[str, Any]) -> None:
        """Note that the results of a recording are complete."""
        self._append(self._finished(job, facts))

    def state(self, job: Job) -> dict[str, Any]:
        """Return the input and the settings of a job, as JSON types."""
        return self._started(job)

    def _append(self, entry: dict[str, Any]) -> None:
        self._entries[entry["name"]] = entry
        with naming(self._path), self._path.open("a", encoding="utf-8") as file:
            # The line of a crash may lack its end.
            file.write(f"\n{json.dumps(entry)}\n")

    def _started(self, job: Job) -> dict[str, Any]:
        return {
            "name": job.name,
            "input": str(job.source),
            "input_state": _input_state(job.source),
            "settings": self._settings,
        }

    def _finished(self, job: Job, facts: dict[str, Any]) -> dict[str, Any]:
        return {**self._started(job), "outputs": _sizes(job.target), "facts": facts}


def _entries(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries by name; a line that was cut by a crash is left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            entry = json.loads(line)
            yield entry["name"], entry
        except (ValueError, TypeError, KeyError):
            continue


def _files(path: Path) -> list[Path]:
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def _sizes(path: Path) -> dict[str, int]:
    """Return the sizes of output files by their names; none if there are no outputs.

    Temporary files that a killed process left do not count.
    """
    if not path.exists():
        return {}
    names = {file: file.relative_to(path.parent) for file in _files(path)}
    return {
        name.as_posix(): file.stat().st_size
        for file, name in names.items()
        if not any(part.startswith(".part-") for part in name.parts)
    }


def _input_state(path: Path) -> str | None:
    """Return a digest of names, sizes and times of change of the files of a recording."""
    try:
        stats = [(file.relative_to(path.parent), file.stat()) for file in _files(path)]
    except OSError:
        return None
    facts = [(name.as_posix(), stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
