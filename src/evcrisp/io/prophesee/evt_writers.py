"""Write Prophesee RAW files: EVT 3.0 and EVT 2.0."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import OutputError
from evcrisp.io.prophesee.evt import MAX_SIZE
from evcrisp.io.prophesee.evt_header import SPLIT, HeadedSink, check_size
from evcrisp.io.protocol import Columns, Writer

#: Limit of a pause in loops of the clock, each of which is written; 203 days for EVT 3.0.
MAX_LOOPS = 1 << 20


@dataclass(slots=True, kw_only=True)
class EvtSink(HeadedSink):
    """An open RAW file."""

    lines: list[str]
    time_bits: int  # of the clock
    low_bits: int  # of them, those that are not in TIME_HIGH words
    word_dtype: type[np.unsignedinteger[Any]]
    words_per_event: int
    #: (columns, whether they are the last ones, state, output) -> number of words
    encode: Callable[[Columns, bool, NDArray[np.int64], NDArray[Any]], int]
    state: NDArray[np.int64]
    t_last: int = field(default=0, init=False)

    def header(self, t_origin: int) -> bytes:
        """Return the header."""
        origin = [f"t0 {t_origin}"] if t_origin else []
        return "".join(f"% {line}\n" for line in [*self.lines, *origin, "end"]).encode("ascii")

    def write_columns(self, columns: Columns) -> None:
        """Append events."""
        t = columns.t
        if self._n_loops(t) > MAX_LOOPS and t.size > 1:
            for part in (slice(t.size // 2), slice(t.size // 2, None)):
                self.write_columns(columns.part(part))
            return
        if self._n_loops(t) > MAX_LOOPS:
            self.flush()
        if self._n_loops(t) > MAX_LOOPS:
            raise OutputError(
                f"{self.title} does not keep a pause of {int(t[-1]) - self.t_last} us.",
                remedy=SPLIT,
            )
        self.t_last = int(t[-1])
        self._write_words(columns, self._n_loops(t), is_end=False)

    def flush(self) -> None:
        """Write the pending run of events."""
        self._write_words(Columns.empty(0), self._n_loops(np.array([self.t_last])), is_end=True)

    def _n_loops(self, t: NDArray[np.int64]) -> int:
        """Return the number of clock loops to write up to the last time."""
        from evcrisp.kernels.io.evt_writers import HIGH

        written = max(int(self.state[HIGH]), 0) << self.low_bits
        return (int(t[-1]) >> self.time_bits) - (written >> self.time_bits) + 1

    def _write_words(self, columns: Columns, n_loops: int, *, is_end: bool) -> None:
        from evcrisp.kernels.io.evt_writers import RUN_WORDS, WORDS_PER_LOOP

        size = columns.t.size * self.words_per_event + WORDS_PER_LOOP * n_loops + RUN_WORDS
        out = np.empty(size, self.word_dtype)
        n_words = self.encode(columns, is_end, self.state, out)
        self.file.write(out[:n_words].astype(out.dtype.newbyteorder("<"), copy=False).data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evt3Writer(Writer):
    """Write EVT 3.0, with runs of neighbors in a row as vectors."""

    name = "evt3"
    title = "Prophesee RAW, EVT 3.0"
    suffixes = (".raw",)

    def open(self, path: Path, resolution: tuple[int, int]) -> EvtSink:
        """Start a file."""
        from evcrisp.kernels.io import evt_writers as evt_encode

        check_size(self.title, resolution, MAX_SIZE)
        width, height = resolution

        def encode(columns: Columns, is_end: bool, state: Any, out: Any) -> int:
            return int(evt_encode.encode_evt3(*columns, width, is_end, state, out))

        return EvtSink(
            file=path.open("wb"),
            lines=_header_lines("3.0", "EVT3", width, height),
            title=self.title,
            time_bits=24,
            low_bits=12,
            max_start=1 << 36,  # 4096 loops of the clock, 24 kB
            word_dtype=np.uint16,
            words_per_event=4,
            encode=encode,
            state=np.array(evt_encode.START, np.int64),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evt2Writer(Writer):
    """Write EVT 2.0."""

    name = "evt2"
    title = "Prophesee RAW, EVT 2.0"
    suffixes = (".raw",)

    def open(self, path: Path, resolution: tuple[int, int]) -> EvtSink:
        """Start a file."""
        from evcrisp.kernels.io import evt_writers as evt_encode

        check_size(self.title, resolution, MAX_SIZE)

        def encode(columns: Columns, is_end: bool, state: Any, out: Any) -> int:
            return int(evt_encode.encode_evt2(*columns, state, out))

        return EvtSink(
            file=path.open("wb"),
            lines=_header_lines("2.0", "EVT2", *resolution),
            title=self.title,
            time_bits=34,
            low_bits=6,
            max_start=1 << 34,
            word_dtype=np.uint32,
            words_per_event=2,
            encode=encode,
            state=np.array(evt_encode.START, np.int64),
        )


def _header_lines(version: str, name: str, width: int, height: int) -> list[str]:
    return [
        f"evt {version}",
        f"format {name};height={height};width={width}",
        f"geometry {width}x{height}",
    ]
