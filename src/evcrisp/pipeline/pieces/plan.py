"""Where the pieces of a recording start; this depends on the recording and its windowing alone."""

from dataclasses import dataclass, replace

from evcrisp.io.recording import Recording
from evcrisp.pipeline.windowing import Windowing

#: Events of a piece: about a second of work, so that starting it costs little and the load is balanced.
PIECE_EVENTS = 1 << 22

#: The last piece has at least this many events: several windows, or one long one.
REST_EVENTS = 1 << 18

#: Warm-up before a piece: the memory of hot pixels, us, and at most this many events.
WARM_US, WARM_EVENTS = 1_000_000, 1 << 20

#: Last events of the warm-up whose windows are estimated; before them, hot pixels are counted only.
ESTIMATED_EVENTS = 1 << 17


@dataclass(frozen=True, slots=True)
class PieceSizes:
    """Numbers of events that define pieces; tests use small ones."""

    piece: int = PIECE_EVENTS
    rest: int = REST_EVENTS
    warm: int = WARM_EVENTS
    estimated: int = ESTIMATED_EVENTS


SIZES = PieceSizes()


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of time of a recording; the first one starts with it, the last one ends with it.

    The event number ``mark`` has the time ``t_mark``, from which ``t_start`` follows: it proves that
    an index of the file is right.
    """

    number: int
    t_start: int | None = None  # us; None for the first
    t_end: int | None = None  # us, not included; None for the last
    t_warm: int | None = None  # us, start of the warm-up
    mark: int = 0
    t_mark: int = 0  # us


@dataclass(frozen=True, slots=True)
class Marks:
    """Events at which pieces start: their numbers, and the times that follow from theirs."""

    windowing: Windowing
    sizes: PieceSizes = SIZES

    def number(self, k: int) -> int:
        """Return the number of the event at which piece ``k`` starts, 1 or more."""
        step = self.windowing.step_events or 1
        return k * self.sizes.piece // step * step

    def start(self, t_mark: int, t_first: int) -> int:
        """Return the start of the piece, us: windows of a fixed length stay where they are."""
        step = self.windowing.step_us
        return t_mark if step is None else t_first + (t_mark - t_first) // step * step

    def warm(self, t_start: int, t_cold: int) -> int:
        """Return the start of the warm-up, us; ``t_cold`` is the time of the last event before it."""
        return min(max(t_start - WARM_US, t_cold + 1), t_start)

    def last_cold(self, k: int) -> int:
        """Return the number of the last event that is too far before piece ``k``."""
        return max(self.number(k) - self.sizes.warm, 0)


def plan_pieces(recording: Recording, marks: Marks) -> list[Piece] | None:
    """Return the pieces of a recording whose file has an index; None if it has none."""
    n_events, pieces, k = recording.n_indexed, [Piece(0)], 1
    if n_events is None:
        return None
    t_first = recording.time_of(0) if n_events else 0
    while n_events - (number := marks.number(k)) >= marks.sizes.rest:
        t_mark, t_cold = recording.time_of(number), recording.time_of(marks.last_cold(k))
        if t_first is None or t_mark is None or t_cold is None:
            return None
        t_start, before = marks.start(t_mark, t_first), pieces[-1]
        if t_start > (t_first if before.t_start is None else before.t_start):
            pieces[-1] = replace(before, t_end=t_start)
            t_warm = marks.warm(t_start, t_cold)
            pieces.append(Piece(len(pieces), t_start, None, t_warm, number, t_mark))
        k += 1
    return pieces
