"""Split one recording into jobs for its pieces, and join their results in order."""

import json
import shutil
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from evcrisp.core.errors import FormatError
from evcrisp.core.windows import ordered_chunks
from evcrisp.io.atomic_output import replacing
from evcrisp.io.recording import Recording
from evcrisp.pipeline.many.run_task import RunTask
from evcrisp.pipeline.many.worker_task import Job
from evcrisp.pipeline.pieces.estimation import events_of_piece
from evcrisp.pipeline.pieces.files import (
    RawColumns,
    StoredPiece,
    event_rows,
    open_piece,
    stored_events,
)
from evcrisp.pipeline.pieces.joining import PieceJoin
from evcrisp.pipeline.pieces.plan import Marks, Piece, plan_pieces
from evcrisp.pipeline.pieces.streaming import streamed_pieces
from evcrisp.pipeline.run_outputs import write_estimates

#: Folder for the results of pieces, in that of the recording; it is removed at the end.
SCRATCH = ".part-pieces"
_PLAN, _STATE = "plan.json", "state.json"

#: Number of the job that copies the events of a recording without an index.
_COPY = -1


@dataclass(frozen=True, slots=True)
class PieceTask(RunTask):
    """Estimate one piece; its events come from the recording, or from a copy."""

    piece: Piece = field(kw_only=True)
    is_copied: bool = field(kw_only=True)

    def __call__(self, source: Path, target: Path, *, overwrite: bool) -> dict[str, Any]:
        """Store the results of the piece."""
        piece, scratch = self.piece, target / SCRATCH
        copy = scratch / f"events-{piece.number:06d}"
        with self._opened(source) as recording:
            setup = self.settings_for(recording).on(recording)
            chunks = recording.chunks()
            if self.is_copied:
                chunks = stored_events(copy, "events", recording.resolution)
            part = events_of_piece(ordered_chunks(chunks), piece)
            folder = _results(scratch, piece)
            with open_piece(folder, piece, setup.model, setup.writer) as sink:
                write_estimates(((piece.number, r) for r in setup.method.estimates(part)), sink)
            if recording.damage is not None:
                raise recording.damage
        shutil.rmtree(copy, ignore_errors=True)
        return {}

    def _opened(self, source: Path) -> Recording:
        """Open the part of a recording with the piece and its warm-up."""
        piece = self.piece
        if self.is_copied:
            return self.open(source)
        with self.open(source) as whole:
            t_first = cast(int, whole.time_of(0))
        t_warm = t_first if piece.t_warm is None else piece.t_warm
        duration = None if piece.t_end is None else piece.t_end - t_warm
        return self.open(source, start_us=t_warm - t_first, duration_us=duration)


@dataclass(frozen=True, slots=True)
class CopyTask(RunTask):
    """Copy the events of each piece and its warm-up, for formats without an index."""

    def __call__(self, source: Path, target: Path, *, overwrite: bool) -> dict[str, Any]:
        """Store the events, and last the plan."""
        scratch, pieces = target / SCRATCH, []
        with self.open(source) as recording:
            marks = self.settings_for(recording).on(recording).marks
            for part in streamed_pieces(ordered_chunks(recording.chunks()), marks):
                copy = scratch / f"events-{part.piece.number:06d}"
                copy.mkdir(parents=True, exist_ok=True)
                with closing(RawColumns(copy, "events")) as columns:
                    if part.warm is not None:
                        columns.append(event_rows(part.warm))
                    for chunk in part.chunks:
                        columns.append(event_rows(chunk))
                pieces.append(part.piece)
            if recording.damage is not None:
                raise recording.damage
        with replacing(scratch / _PLAN, overwrite=True) as temporary:
            temporary.write_text(json.dumps([asdict(piece) for piece in pieces]))
        return {}


def _results(scratch: Path, piece: Piece) -> Path:
    return scratch / f"piece-{piece.number:06d}"


class SplitRun:
    """One recording whose pieces are processed side by side."""

    def __init__(self, job: Job, state: dict[str, Any]) -> None:
        self._job, self._task, self._state = job, cast(RunTask, job.task), state
        self._scratch = job.target / SCRATCH
        self._stack = ExitStack()
        self._recording = self._stack.enter_context(self._task.open(job.source))
        self._join: PieceJoin | None = None
        self._n_joined = 0
        self._is_done: set[int] = set()
        marks = Marks(self._task.run.windowing, self._task.run.sizes)
        self.pieces = plan_pieces(self._recording, marks)
        self._is_copied = self.pieces is None

    def _read_plan(self) -> None:
        try:
            rows = json.loads((self._scratch / _PLAN).read_text())
            self.pieces = [Piece(**row) for row in rows]
        except (OSError, ValueError, TypeError):
            self.pieces = None

    @property
    def is_long(self) -> bool:
        """Whether the recording has, or may have, several pieces."""
        if self.pieces is not None:
            return len(self.pieces) > 1
        n, sizes = self._recording.n_events_stated, self._task.run.sizes
        path = self._recording.path
        least = sizes.piece + sizes.rest
        # No format needs less than a byte per event, on average.
        return n >= least if n is not None else path.is_dir() or path.stat().st_size >= least

    def start(self, *, overwrite: bool) -> dict[int, Job]:
        """Open the results; return the first jobs by their number."""
        setup = self._task.settings_for(self._recording).on(self._recording)
        self._join = PieceJoin(self._recording, setup, self._job.target, overwrite=overwrite)
        # Without a size in the file, each job would scan the events for it.
        opening = {**self._task.opening, "resolution": self._recording.sensor_size}
        self._task = replace(self._task, opening=opening)
        self._keep_pieces_of_same_state()
        if self._is_copied:
            self._read_plan()
        if self.pieces is None:
            task = CopyTask(self._task.run, opening)
            return {_COPY: replace(self._job, task=task)}
        return self._piece_jobs()

    def _keep_pieces_of_same_state(self) -> None:
        """Remove results of pieces with other settings, or of another input."""
        path = self._scratch / _STATE
        try:
            is_same = json.loads(path.read_text()) == json.loads(json.dumps(self._state))
        except (OSError, ValueError):
            is_same = False
        if not is_same:
            self.remove()
        self._scratch.mkdir(exist_ok=True)
        path.write_text(json.dumps(self._state))

    def done(self, number: int) -> dict[int, Job]:
        """Take the result of a job; return the jobs that it makes possible."""
        if number == _COPY:
            self._read_plan()
            return self._piece_jobs()
        self._is_done.add(number)
        self._join_ready()
        return {}

    def _piece_jobs(self) -> dict[int, Job]:
        """Return the jobs of pieces without complete results."""
        jobs = {}
        for piece in self.pieces or ():
            if StoredPiece.of(_results(self._scratch, piece), piece) is not None:
                self._is_done.add(piece.number)
                continue
            task = PieceTask(self._task.run, self._task.opening, piece=piece, is_copied=self._is_copied)  # fmt: skip
            jobs[piece.number] = replace(self._job, task=task)
        self._join_ready()
        return jobs

    def _join_ready(self) -> None:
        """Join all pieces whose turn it is, and remove their files."""
        while self._n_joined in self._is_done:
            piece = (self.pieces or [])[self._n_joined]
            stored = StoredPiece.of(_results(self._scratch, piece), piece)
            if stored is None or self._join is None:
                raise FormatError("a piece of the results is missing", path=self._job.source)
            self._join.add(piece, stored)
            self._n_joined += 1

    @property
    def is_complete(self) -> bool:
        """Whether all pieces are joined."""
        return self.pieces is not None and self._n_joined == len(self.pieces)

    def share_done(self) -> float:
        """Return the share of the pieces that are finished, 0 to 1."""
        return len(self._is_done) / len(self.pieces) if self.pieces else 0.0

    def finish(self) -> dict[str, Any]:
        """Complete the results of the recording, and return its facts."""
        n_expected = None if self._is_copied else self._recording.n_indexed
        summary = cast(PieceJoin, self._join).finish(n_expected)
        self._join = None
        self.close()
        self.remove()
        return self._task.facts(summary)

    def abandon(self, error: BaseException) -> None:
        """Remove unfinished results; those of pieces stay for the next call."""
        if self._join is not None:
            self._join.abandon(error)
            self._join = None
        self.close()

    def close(self) -> None:
        """Close the recording."""
        self._stack.close()

    def remove(self) -> None:
        """Remove the results of pieces."""
        shutil.rmtree(self._scratch, ignore_errors=True)


def split_run(job: Job, state: dict[str, Any]) -> SplitRun | None:
    """Return a recording that can be split, or None.

    ``state`` are the input and the settings; results of pieces with another state are removed.
    """
    try:
        split = SplitRun(job, state)
    except Exception:
        return None  # the job in one piece reports it
    if split.is_long:
        return split
    split.close()
    return None
