"""Store of results: one small file per result, written atomically."""

import hashlib
import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evcrisp.io.atomic_output import naming, replacing

logger = logging.getLogger(__name__)


class ResultStore:
    """Folder of results.

    ``results/KEY.json`` is a result and ``results/KEY.failed.json`` a failure; ``failures.log`` has
    one line per failure; ``digests.json`` caches digests of inputs by size and time of change.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._results = folder / "results"
        self._results.mkdir(parents=True, exist_ok=True)
        self._digests: dict[str, str] = _loaded(folder / "digests.json") or {}
        self._n_saved = len(self._digests)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a result, or None."""
        return _loaded(self._results / f"{key}.json")

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Store a result."""
        _save(self._results / f"{key}.json", result)
        (self._results / f"{key}.failed.json").unlink(missing_ok=True)

    def discard(self, key: str) -> None:
        """Remove a result and a failure."""
        for suffix in (".json", ".failed.json"):
            (self._results / f"{key}{suffix}").unlink(missing_ok=True)

    def failure(self, key: str) -> str | None:
        """Return the reason why a task failed, or None."""
        failed = _loaded(self._results / f"{key}.failed.json")
        return None if failed is None else str(failed["error"])

    def fail(self, key: str, name: str, error: str) -> None:
        """Store a failure and append it to the log."""
        _save(self._results / f"{key}.failed.json", {"task": name, "error": error})
        with naming(self.log), self.log.open("a", encoding="utf-8") as file:
            file.write(f"{name}: {error}\n".replace("\n", " ").strip() + "\n")

    @property
    def log(self) -> Path:
        """Log of failures."""
        return self.folder / "failures.log"

    def digest(self, files: Iterable[Path]) -> str:
        """Return a digest of the contents of files, in order."""
        return hashlib.sha256("".join(map(self._digest_of, files)).encode()).hexdigest()

    def save_digests(self) -> None:
        """Save the cache of digests for the next run."""
        if len(self._digests) != self._n_saved:
            _save(self.folder / "digests.json", dict(sorted(self._digests.items())))
            self._n_saved = len(self._digests)

    def _digest_of(self, path: Path) -> str:
        state = path.stat()
        known = f"{path.resolve()}|{state.st_size}|{state.st_mtime_ns}"
        if known not in self._digests:
            with path.open("rb") as file:
                self._digests[known] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digests[known]


def _loaded(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        logger.warning("%s is damaged and is created again.", path)
        return None


def _save(path: Path, content: Any) -> None:
    with replacing(path, overwrite=True) as temporary:
        temporary.write_text(json.dumps(content, sort_keys=True) + "\n", encoding="utf-8")
