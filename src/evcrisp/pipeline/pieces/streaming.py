"""Split a stream of events into pieces while it is read once."""

from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from evcrisp.core.events import Events
from evcrisp.pipeline.pieces.plan import Marks, Piece


@dataclass(slots=True)
class StreamedPiece:
    """A piece with its events; ``piece.t_end`` is known when they have been read."""

    piece: Piece
    warm: Events | None
    chunks: Iterator[Events] = field(default=iter(()))

    @property
    def t_end(self) -> int | None:
        """End of the piece, us; None for the last one."""
        return self.piece.t_end


def streamed_pieces(chunks: Iterator[Events], marks: Marks) -> Iterator[StreamedPiece]:
    """Yield the pieces of a stream of chunks with events; each must be read before the next."""
    items = _Splitter(marks).split(chunks)
    current: StreamedPiece | None = StreamedPiece(Piece(0), None)
    while current is not None:
        after: list[StreamedPiece] = []

        def events(piece: StreamedPiece, after: list[StreamedPiece]) -> Iterator[Events]:
            for item in items:
                if isinstance(item, StreamedPiece):
                    piece.piece = replace(piece.piece, t_end=item.piece.t_start)
                    after.append(item)
                    return
                yield item

        current.chunks = events(current, after)
        yield current
        for _ in current.chunks:  # left by the caller
            pass
        current = after[0] if after else None


class _Splitter:
    """Holds events back until it is known to which piece they belong."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._held: Events | None = None
        self._n_out = 0  # events before the held ones
        self._recent: deque[Events] = deque()  # the last events before the held ones
        self._n_recent = 0
        self._t_first = self._t_started = 0  # us
        self._k, self._n_pieces = 1, 1
        self._t_cold: int | None = (
            None  # us, of the last event before the warm-up of the next piece
        )
        self._t_mark: int | None = None  # us, of the event at which the next piece may start

    def split(self, chunks: Iterator[Events]) -> Iterator[Events | StreamedPiece]:
        """Yield events, and at the start of a piece the piece without its events."""
        for chunk in chunks:
            if self._held is None:
                self._t_first = self._t_started = int(chunk.t[0])
                self._held = chunk
            else:
                self._held = Events.concatenate((self._held, chunk))
            yield from self._decided(self._held)
        if self._held is not None and len(self._held):
            yield self._held

    def _decided(self, held: Events) -> Iterator[Events | StreamedPiece]:
        while True:
            self._note_times(held)
            limit = int(held.t[-1]) if self._t_mark is None else self._t_mark
            t_start = self._marks.start(limit, self._t_first)
            held = yield from self._emit(held, t_start)
            number = self._marks.number(self._k)
            is_long = self._n_out + len(held) - number >= self._marks.sizes.rest
            if self._t_mark is None or not is_long:
                return
            if t_start > self._t_started:
                yield self._new_piece(t_start, number, self._t_mark)
            self._k += 1
            self._t_cold = self._t_mark = None

    def _note_times(self, held: Events) -> None:
        """Keep the times of the events that decide about the next piece."""
        if self._t_cold is None:
            self._t_cold = self._time(held, self._marks.last_cold(self._k))
        if self._t_mark is None:
            self._t_mark = self._time(held, self._marks.number(self._k))

    def _time(self, held: Events, number: int) -> int | None:
        """Return the time of an event, us; None if it is not read yet."""
        if number >= self._n_out:
            place = number - self._n_out
            return int(held.t[place]) if place < len(held) else None
        first = self._n_out
        for part in reversed(self._recent):
            first -= len(part)
            if number >= first:
                return int(part.t[number - first])
        return self._t_first  # of step sizes beyond a piece

    def _emit(self, held: Events, t_start: int) -> Generator[Events, None, Events]:
        """Yield the events before a time; return the others, and hold them."""
        n = int(np.searchsorted(held.t, t_start))
        done, held = held[:n], held[n:]
        if n:
            self._n_out += n
            self._recent.append(done)
            self._n_recent += n
            while self._n_recent - len(self._recent[0]) > self._marks.sizes.warm:
                self._n_recent -= len(self._recent.popleft())
            yield done
        self._held = held
        return held

    def _new_piece(self, t_start: int, number: int, t_mark: int) -> StreamedPiece:
        t_cold = self._t_first if self._t_cold is None else self._t_cold
        t_warm = self._marks.warm(t_start, t_cold)
        piece = Piece(self._n_pieces, t_start, None, t_warm, number, t_mark)
        self._t_started = t_start
        self._n_pieces += 1
        warm = Events.concatenate(tuple(self._recent)).between(t_warm, t_start)
        return StreamedPiece(piece, warm)
