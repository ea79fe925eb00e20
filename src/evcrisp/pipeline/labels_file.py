"""Read files with one label per event in pieces, and write labels.npz of a run."""

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError, FormatError
from evcrisp.core.event_columns import as_flag
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.core.types import Bools
from evcrisp.io.arrays.npy import NpyColumn
from evcrisp.io.arrays.npz import NpzPacker
from evcrisp.io.arrays.npz_in_place import InPlaceNpz
from evcrisp.io.byte_blocks import ZIP_ERRORS, open_archive
from evcrisp.pipeline.label_merging import LabeledChunk


class LabelFile:
    """Labels (and scores, if the file has them) of the events of a recording, in order."""

    def __init__(self, path: Path, signal: NpyColumn, score: NpyColumn | None) -> None:
        self.path = path
        self.has_score = score is not None
        self._signal, self._score = signal, score
        self._n_read = 0
        for column in (signal, score):
            if column is not None and len(column.shape) != 1:
                raise FormatError(
                    f"{column.name!r} must have one axis; got shape {column.shape}", path=path
                )

    def take(self, n: int) -> tuple[Bools, NDArray[Any] | None]:
        """Return the labels and scores of the next ``n`` events."""
        self._n_read += n
        try:
            signal = self._signal.read(n)
            score = None if self._score is None else self._score.read(n)
        except ZIP_ERRORS as error:
            raise FormatError(f"the labels are damaged: {error}", path=self.path) from error
        if signal.size < n or (score is not None and score.size < n):
            raise self._wrong_count("at least ")
        return as_flag("signal", signal), score

    def check_end(self) -> None:
        """Raise if labels are left."""
        if len(self._signal) != self._n_read:
            raise self._wrong_count()

    def _wrong_count(self, bound: str = "") -> EventDataError:
        return EventDataError(
            f"{self.path} holds {counted(len(self._signal), 'label')}, but the recording has {bound}"
            f"{counted(self._n_read, 'event')}. Give the labels of this recording, of the same part."
        )


@contextmanager
def open_labels(path: Path) -> Generator[LabelFile, None, None]:
    """Open an ``.npy`` file of flags, or an ``.npz`` file with ``signal`` (and ``score``)."""
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        try:
            head = file.read(6)
            file.seek(0)
            if head == b"\x93NUMPY":
                labels = LabelFile(path, NpyColumn("signal", file), None)
            else:
                labels = _from_archive(path, stack)
        except FormatError as error:
            raise error.located(path, 0) from error
        except ZIP_ERRORS as error:
            raise FormatError(
                "labels must be an .npy file of flags, or an .npz archive with 'signal', such as "
                "`evcrisp run` writes",
                path=path,
            ) from error
        yield labels


def _from_archive(path: Path, stack: ExitStack) -> LabelFile:
    archive = stack.enter_context(open_archive(path))
    names = archive.namelist()
    if "signal.npy" not in names:
        raise FormatError(f"the archive has no labels ('signal'); it has {', '.join(names)}")
    columns = {
        name: NpyColumn(name, stack.enter_context(archive.open(f"{name}.npy")))
        for name in ("signal", "score")
        if f"{name}.npy" in names
    }
    return LabelFile(path, columns["signal"], columns.get("score"))


def label_columns(chunk: LabeledChunk) -> dict[str, NDArray[Any]]:
    """Return signal, score and confidence of a chunk as they are written."""
    columns = {"score": chunk.score, "confidence": chunk.confidence}
    singles = {name: column.astype(np.float32) for name, column in columns.items()}
    return {"signal": chunk.signal, **singles}


class LabelsFile:
    """Writes labels.npz: signal, score and confidence of every event.

    With the number of events, if it is known, labels are written once, to their places in the file.
    """

    def __init__(
        self, path: Path, resolution: tuple[int, int], n_expected: int | None = None
    ) -> None:
        self._path, self._n_expected = path, n_expected
        self._packer = NpzPacker(path)
        self._in_place: InPlaceNpz | None = None
        self._resolution = resolution

    def write(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Append labels, as `label_columns` returns them."""
        n_new = len(next(iter(columns.values())))
        if self._n_expected is not None and self._in_place is None:
            self._in_place = InPlaceNpz(self._path, columns, self._n_expected)
        if self._in_place is None:
            self._packer.append(columns)
        elif self._in_place.n_written + n_new <= self._in_place.n_rows:
            self._in_place.append(columns)
        else:
            self._move(self._in_place)
            self._packer.append(columns)

    def finish(self) -> None:
        """Complete the file; without events it has empty columns."""
        if self._in_place is not None and self._in_place.n_written == self._n_expected:
            self._in_place.finish()
            return
        if self._in_place is not None:  # the run was stopped, or the file states other events
            self._move(self._in_place)
        if not self._packer.names:
            chunk = LabeledChunk(Events.empty(self._resolution), np.zeros(0), np.zeros(0))
            self._packer.append(label_columns(chunk))
        self._packer.pack({})

    def close(self) -> None:
        """Close the file, and remove temporary ones."""
        if self._in_place is not None:
            self._in_place.close()
        self._packer.remove()

    def _move(self, in_place: InPlaceNpz) -> None:
        """Continue without a known number of events."""
        for rows in in_place.rows():
            self._packer.append(rows)
        in_place.close()
        self._in_place = self._n_expected = None
