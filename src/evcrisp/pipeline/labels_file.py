"""Read files with one label per event, in pieces."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError, FormatError
from evcrisp.core.event_columns import as_flag
from evcrisp.core.messages import counted
from evcrisp.core.types import Bools
from evcrisp.io.arrays.npy import NpyColumn
from evcrisp.io.byte_blocks import ZIP_ERRORS, open_archive


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
