"""Results of a piece in a folder, which appears when they are complete."""

import json
import secrets
import shutil
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.estimators.result import Estimate
from evcrisp.io.atomic_output import naming
from evcrisp.io.protocol import Writer
from evcrisp.io.writing import ChunkWriter, can_join
from evcrisp.motion import MotionModel
from evcrisp.pipeline import labels_file, run_log
from evcrisp.pipeline.label_merging import LabeledChunk
from evcrisp.pipeline.pieces.plan import Piece
from evcrisp.pipeline.window_objects import WindowObjects

_EVENTS = {"x": "<u2", "y": "<u2", "t": "<i8", "p": "|b1", "signal": "|b1"}
_LABELS = {"signal": "|b1", "score": "<f4", "confidence": "<f4"}
_FACTS = "piece.json"

#: Kept events, if files of their format can be joined; otherwise they are columns.
_CLEAN = "kept.clean"

#: Rows that are read at a time: columns that stay in the cache of a core.
_CHUNK = 1 << 16


@dataclass(slots=True)
class RawColumns:
    """Columns of one length in files without headers; the first rows decide which columns there are."""

    folder: Path
    kind: str  # of the content, and first part of the names
    n_rows: int = 0
    _files: dict[str, IO[bytes]] = field(default_factory=dict)

    def append(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Append rows."""
        for name, column in columns.items():
            path = self.folder / f"{self.kind}.{name}"
            with naming(path):
                if name not in self._files:
                    self._files[name] = path.open("wb")
                self._files[name].write(np.ascontiguousarray(column).data)
        self.n_rows += len(next(iter(columns.values())))

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()

    @staticmethod
    def read(folder: Path, kind: str, dtypes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Yield rows of the columns that exist."""
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(path.open("rb"))
                for name in dtypes
                if (path := folder / f"{kind}.{name}").exists()
            }
            while files:
                rows = {
                    name: np.fromfile(file, dtypes[name], _CHUNK) for name, file in files.items()
                }
                if not len(next(iter(rows.values()))):
                    return
                yield rows


def event_rows(events: Events) -> dict[str, NDArray[Any]]:
    """Return the columns of events."""
    columns: dict[str, NDArray[Any]] = {"x": events.x, "y": events.y, "t": events.t, "p": events.p}
    return columns if events.signal is None else {**columns, "signal": events.signal}


def stored_events(folder: Path, kind: str, resolution: tuple[int, int]) -> Iterator[Events]:
    """Yield events that were stored as columns."""
    for rows in RawColumns.read(folder, kind, _EVENTS):
        x, y, t, p = (rows[name] for name in "xytp")
        yield Events.trusted(x, y, t, p, resolution, rows.get("signal"))


class _KeptEvents:
    """The kept events of a piece: a file as that of the results if such files can be joined, or columns."""

    def __init__(self, folder: Path, writer: Writer) -> None:
        self.has_signal = False
        self._stack = ExitStack()
        self._columns: RawColumns | None = None
        self._file: ChunkWriter | None = None
        if can_join(writer):
            self._file = self._stack.enter_context(ChunkWriter(folder / _CLEAN, writer))
        else:
            self._columns = self._stack.enter_context(closing(RawColumns(folder, "kept")))

    def append(self, events: Events) -> None:
        """Append events."""
        self.has_signal |= events.signal is not None and len(events) > 0
        if self._columns is not None:
            self._columns.append(event_rows(events))
        if self._file is not None:
            self._file.write(events)

    def close(self) -> None:
        """Complete the files."""
        self._stack.close()


class PieceSink:
    """Takes the results of a piece, and stores them in a folder."""

    def __init__(self, folder: Path, piece: Piece, model: MotionModel, writer: Writer) -> None:
        self._piece = piece
        self.log = run_log.RunLog(model)
        self.motions = run_log.MotionFile(folder / "motion.csv", model)
        self.labels, self._kept = RawColumns(folder, "labels"), _KeptEvents(folder, writer)
        self._objects_path = folder / "objects.jsonl"
        self._objects = self._objects_path.open("w", encoding="utf-8")
        self._n_before_mark = self._n_at_mark = 0

    def write_window(self, result: Estimate) -> None:
        """Store the motion and the objects of a window."""
        self.log.add_window(result)
        self.motions.write_window(result)
        with naming(self._objects_path):
            self._objects.write(json.dumps(WindowObjects.of(result).as_json()) + "\n")

    def write_labels(self, chunk: LabeledChunk) -> None:
        """Store labels, and the events that are kept."""
        self.log.add_labels(chunk)
        self.labels.append(labels_file.label_columns(chunk))
        self._kept.append(chunk.kept())
        first, last = (np.searchsorted(chunk.events.t, self._piece.t_mark, s) for s in ("left", "right"))  # fmt: skip
        self._n_before_mark += int(first)
        self._n_at_mark += int(last - first)

    def end_piece(self) -> None:
        """Do nothing: a sink takes one piece."""

    def close(self) -> None:
        """Close the files."""
        for file in (self.motions, self.labels, self._kept, self._objects):
            file.close()

    def facts(self) -> dict[str, Any]:
        """Return what `StoredPiece` needs beside the files."""
        return {
            "piece": asdict(self._piece),
            "n_before_mark": self._n_before_mark,
            "n_at_mark": self._n_at_mark,
            "has_signal": self._kept.has_signal,
            "log": self.log.state(),
        }


@contextmanager
def open_piece(
    folder: Path, piece: Piece, model: MotionModel, writer: Writer
) -> Generator[PieceSink, None, None]:
    """Open a folder for the results of a piece; it has its name when the block succeeds."""
    temporary = folder.with_name(f".part-{secrets.token_hex(8)}")
    temporary.mkdir(parents=True)
    try:
        with closing(PieceSink(temporary, piece, model, writer)) as sink:
            yield sink
        (temporary / _FACTS).write_text(json.dumps(sink.facts()))
        shutil.rmtree(folder, ignore_errors=True)
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


@dataclass(frozen=True, slots=True)
class StoredPiece:
    """Complete results of a piece."""

    folder: Path
    facts: Mapping[str, Any]

    @classmethod
    def of(cls, folder: Path, piece: Piece) -> "StoredPiece | None":
        """Return the results of a piece if they are complete."""
        try:
            facts = json.loads((folder / _FACTS).read_text())
            return cls(folder, facts) if facts["piece"] == asdict(piece) else None
        except (OSError, ValueError, KeyError):
            return None

    def is_marked(self, n_before: int) -> bool:
        """Return whether the piece starts where it should, given the number of events before it."""
        first = n_before + self.facts["n_before_mark"]
        return first <= self.facts["piece"]["mark"] < first + self.facts["n_at_mark"]

    def motion_rows(self) -> Iterator[str]:
        """Yield the lines of motion.csv, without the header."""
        with (self.folder / "motion.csv").open(encoding="utf-8", newline="") as file:
            next(file)
            yield from file

    def windows(self) -> Iterator[WindowObjects]:
        """Yield the objects of each window."""
        with (self.folder / "objects.jsonl").open(encoding="utf-8") as file:
            for line in file:
                yield WindowObjects.from_json(json.loads(line))

    def labels(self) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield columns of labels."""
        return RawColumns.read(self.folder, "labels", _LABELS)

    def write_kept(self, cleaned: ChunkWriter, resolution: tuple[int, int]) -> None:
        """Write the events that are kept."""
        if (path := self.folder / _CLEAN).exists():
            cleaned.append_part(path, resolution, has_signal=self.facts["has_signal"])
            return
        for events in stored_events(self.folder, "kept", resolution):
            cleaned.write(events)
