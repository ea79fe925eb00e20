"""Write Prophesee RAW files: EVT 3.0 and EVT 2.0."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import OutputError
from evcrisp.io.prophesee.evt import MAX_SIZE
from evcrisp.io.prophesee.evt_header import SPLIT, HeadedSink, check_size
from evcrisp.io.protocol import Columns, Writer

#: Limit of a pause in loops of the clock, each of which is written; 203 days for EVT 3.0.
MAX_LOOPS = 1 << 20


@dataclass(slots=True, kw_only=True)
class _EvtSink(HeadedSink):
    writer: "_EvtWriter"
    resolution: tuple[int, int]
    state: NDArray[np.int64] = field(init=False)
    t_last: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        from evcrisp.kernels.io.evt_writers import START

        self.state = np.array(START, np.int64)

    def header(self, t_origin: int) -> bytes:
        version, (width, height) = self.writer.version, self.resolution
        name = "EVT" + version.removesuffix(".0")
        lines = [f"evt {version}", f"format {name};height={height};width={width}"]
        lines += [f"geometry {width}x{height}", *([f"t0 {t_origin}"] if t_origin else []), "end"]
        return "".join(f"% {line}\n" for line in lines).encode("ascii")

    def write_columns(self, columns: Columns) -> None:
        t = columns.t
        if self._n_loops(t) > MAX_LOOPS and t.size > 1:
            for part in (slice(t.size // 2), slice(t.size // 2, None)):
                self.write_columns(columns.part(part))
            return
        if self._n_loops(t) > MAX_LOOPS:
            self.flush()
        if self._n_loops(t) > MAX_LOOPS:
            pause = int(t[-1]) - self.t_last
            raise OutputError(f"{self.title} does not keep a pause of {pause} us.", remedy=SPLIT)
        self.t_last = int(t[-1])
        self._write_words(columns, self._n_loops(t), is_end=False)

    def flush(self) -> None:
        """Write the pending run of events."""
        self._write_words(Columns.empty(0), self._n_loops(np.array([self.t_last])), is_end=True)

    def _n_loops(self, t: NDArray[np.int64]) -> int:
        """Return the number of clock loops to write up to the last time."""
        from evcrisp.kernels.io.evt_writers import HIGH

        time_bits = self.writer.time_bits
        written = max(int(self.state[HIGH]), 0) << self.writer.low_bits
        return (int(t[-1]) >> time_bits) - (written >> time_bits) + 1

    def _write_words(self, columns: Columns, n_loops: int, *, is_end: bool) -> None:
        from evcrisp.kernels.io import evt_writers as kernel

        writer = self.writer
        size = columns.t.size * writer.words_per_event + kernel.WORDS_PER_LOOP * n_loops
        out = np.empty(size + kernel.RUN_WORDS, writer.word_dtype)
        if writer.has_vectors:
            width = self.resolution[0]
            n_words = int(kernel.encode_evt3(*columns, width, is_end, self.state, out))
        else:
            n_words = int(kernel.encode_evt2(*columns, self.state, out))
        self.file.write(out[:n_words].astype(out.dtype.newbyteorder("<"), copy=False).data)


class _EvtWriter(Writer):
    """Base of the writers."""

    suffixes = (".raw",)
    version: ClassVar[str]
    time_bits: ClassVar[int]  # of the clock
    low_bits: ClassVar[int]  # of them, those that are not in TIME_HIGH words
    max_start: ClassVar[int]  # us
    word_dtype: ClassVar[type[np.unsignedinteger[Any]]]
    words_per_event: ClassVar[int]
    has_vectors: ClassVar[bool]  # EVT 3.0, else EVT 2.0

    def open(self, path: Path, resolution: tuple[int, int]) -> _EvtSink:
        check_size(self.title, resolution, MAX_SIZE)
        file, title, start = path.open("wb"), self.title, self.max_start
        return _EvtSink(file=file, title=title, max_start=start, writer=self, resolution=resolution)


@dataclass(frozen=True, slots=True)
class Evt3Writer(_EvtWriter):
    """Write EVT 3.0, with runs of neighbors in a row as vectors."""

    name = "evt3"
    title = "Prophesee RAW, EVT 3.0"
    version = "3.0"
    time_bits = 24
    low_bits = 12
    max_start = 1 << 36  # 4096 loops of the clock, 24 kB
    word_dtype = np.uint16
    words_per_event = 4
    has_vectors = True


@dataclass(frozen=True, slots=True)
class Evt2Writer(_EvtWriter):
    """Write EVT 2.0."""

    name = "evt2"
    title = "Prophesee RAW, EVT 2.0"
    version = "2.0"
    time_bits = 34
    low_bits = 6
    max_start = 1 << 34
    word_dtype = np.uint32
    words_per_event = 2
    has_vectors = False
