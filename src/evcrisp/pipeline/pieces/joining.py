"""Join the results of pieces to those of the recording, with the bytes of a run in one process."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from evcrisp.core.errors import EvError
from evcrisp.io.recording import Recording
from evcrisp.pipeline.pieces.files import StoredPiece
from evcrisp.pipeline.pieces.plan import Piece
from evcrisp.pipeline.run_outputs import RunSetup, open_outputs


class WrongIndexError(EvError):
    """The index of the file does not agree with its events; the recording is not split then."""


class PieceJoin:
    """Open results of a recording; takes its pieces in order."""

    def __init__(
        self, recording: Recording, setup: RunSetup, folder: Path, *, overwrite: bool
    ) -> None:
        self._resolution = recording.resolution
        self._stack = ExitStack()
        opened = open_outputs(folder, setup, overwrite=overwrite)
        self._outputs = self._stack.enter_context(opened)
        self._n_joined = 0

    def add(self, piece: Piece, stored: StoredPiece) -> None:
        """Append the next piece."""
        out = self._outputs
        if piece.number and not stored.is_marked(out.log.n_events):
            raise WrongIndexError("The index of the file states other events.")
        for row in stored.motion_rows():
            out.motions.write(row)
        for window in stored.windows():
            out.layers.write_window(window)
        for columns in stored.labels():
            out.labels.write(columns)
        stored.write_kept(out.cleaned, self._resolution)
        out.log.merge(stored.facts["log"])
        self._n_joined += 1

    def finish(self, n_expected: int | None) -> dict[str, Any]:
        """Complete the results and return their summary; an index states ``n_expected`` events."""
        if n_expected not in (None, self._outputs.log.n_events):
            raise WrongIndexError("The index of the file states another number of events.")
        self._outputs.n_pieces = self._n_joined
        self._stack.close()
        return self._outputs.summary

    def abandon(self, error: BaseException) -> None:
        """Remove what was written."""
        try:
            self._stack.__exit__(type(error), error, error.__traceback__)
        except BaseException as raised:
            if raised is not error:
                raise
