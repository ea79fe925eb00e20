"""Write Prophesee RAW files: EVT 3.0 and EVT 2.0."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import OutputError
from evcrisp.events import Events

logger = logging.getLogger(__name__)

#: Coordinates have 11 bits.
MAX_SIZE = 2048
#: A pause may take so many loops of the clock, each of which is written out; 203 days for EVT 3.0.
MAX_LOOPS = 1 << 20
_PIECE_EVENTS = 1 << 18


def check_size(title: str, resolution: tuple[int, int], limit: int) -> None:
    """Raise if a sensor is larger than a format can say."""
    if max(resolution) > limit:
        raise OutputError(
            f"{title} keeps sensors up to {limit}x{limit} px; got {resolution[0]}x{resolution[1]}. "
            "Use another format, such as npz."
        )


def time_origin(title: str, first: int, limit: int) -> int:
    """Return what to subtract from all times: 0, or the first time where it is too late.

    Raises
    ------
    OutputError
        If the first time is negative.
    """
    if first < 0:
        raise OutputError(
            f"{title} has no time before 0; the first event is at {first} us. "
            "Shift the time first, or use another format, such as npz."
        )
    if first < limit:
        return 0
    logger.warning(
        "%s cannot say a first time of %d us; it goes to a line `t0` of the header, which evcrisp "
        "and faery add again. Other programs see the recording start at 0.",
        title,
        first,
    )
    return first


@dataclass(slots=True)
class EvtSink:
    """An open RAW file; the header is written with the first events, whose time it may state."""

    file: BinaryIO
    lines: list[str]
    title: str
    time_bits: int
    max_start: int  # us
    word_dtype: type[np.unsignedinteger[Any]]
    words_per_event: int
    encode: Callable[..., int]
    state: NDArray[np.int64]
    t_origin: int | None = field(default=None, init=False)
    t_last: int = field(default=0, init=False)

    def write(self, events: Events) -> None:
        """Append events."""
        if len(events) == 0:
            return
        if self.t_origin is None:
            self._start(time_origin(self.title, int(events.t[0]), self.max_start))
        for first in range(0, len(events), _PIECE_EVENTS):
            self._write_piece(events[first : first + _PIECE_EVENTS])

    def _start(self, t_origin: int) -> None:
        self.t_origin = t_origin
        origin = [f"t0 {t_origin}"] if t_origin else []
        text = "".join(f"% {line}\n" for line in [*self.lines, *origin, "end"])
        self.file.write(text.encode("ascii"))

    def _write_piece(self, events: Events) -> None:
        from evcrisp.kernels.evt_encode import WORDS_PER_LOOP

        t = events.t - self.t_origin if self.t_origin else events.t
        n_loops = (int(t[-1]) >> self.time_bits) - (self.t_last >> self.time_bits) + 1
        if n_loops > MAX_LOOPS:
            raise OutputError(
                f"{self.title} cannot keep a pause of {int(t[-1]) - self.t_last} us. "
                "Split the recording there, or use another format, such as npz."
            )
        self.t_last = int(t[-1])
        size = len(events) * self.words_per_event + WORDS_PER_LOOP * n_loops + 2
        out = np.empty(size, self.word_dtype)
        columns = (np.ascontiguousarray(column) for column in (events.x, events.y, t, events.p))
        n_words = self.encode(*columns, self.state, out)
        self.file.write(out[:n_words].astype(out.dtype.newbyteorder("<"), copy=False).data)

    def finish(self) -> None:
        """Complete and close the file."""
        if self.t_origin is None:
            self._start(0)
        self.file.close()

    def abort(self) -> None:
        """Close the file without completing it."""
        self.file.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evt3Writer:
    """Write EVT 3.0, with runs of neighbors in a row as vectors."""

    name: ClassVar[str] = "evt3"
    title: ClassVar[str] = "Prophesee RAW, EVT 3.0"
    suffixes: ClassVar[tuple[str, ...]] = (".raw",)
    keeps_signal: ClassVar[bool] = False
    keeps_extras: ClassVar[bool] = False

    def open(self, path: Path, resolution: tuple[int, int]) -> EvtSink:
        """Start a file."""
        from evcrisp.kernels import evt_encode

        check_size(self.title, resolution, MAX_SIZE)
        width, height = resolution

        def encode(x: Any, y: Any, t: Any, p: Any, state: Any, out: Any) -> int:
            return int(evt_encode.encode_evt3(x, y, t, p, width, state, out))

        return EvtSink(
            file=path.open("wb"),
            lines=_header_lines("3.0", "EVT3", width, height),
            title=self.title,
            time_bits=24,
            max_start=1 << 36,  # 4096 loops of the clock, 24 kB
            word_dtype=np.uint16,
            words_per_event=4,
            encode=encode,
            state=np.array(evt_encode.START, np.int64),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evt2Writer:
    """Write EVT 2.0."""

    name: ClassVar[str] = "evt2"
    title: ClassVar[str] = "Prophesee RAW, EVT 2.0"
    suffixes: ClassVar[tuple[str, ...]] = (".raw",)
    keeps_signal: ClassVar[bool] = False
    keeps_extras: ClassVar[bool] = False

    def open(self, path: Path, resolution: tuple[int, int]) -> EvtSink:
        """Start a file."""
        from evcrisp.kernels import evt_encode

        check_size(self.title, resolution, MAX_SIZE)
        return EvtSink(
            file=path.open("wb"),
            lines=_header_lines("2.0", "EVT2", *resolution),
            title=self.title,
            time_bits=34,
            max_start=1 << 34,
            word_dtype=np.uint32,
            words_per_event=2,
            encode=evt_encode.encode_evt2,
            state=np.array(evt_encode.START, np.int64),
        )


def _header_lines(version: str, name: str, width: int, height: int) -> list[str]:
    return [
        f"evt {version}",
        f"format {name};height={height};width={width}",
        f"geometry {width}x{height}",
    ]
