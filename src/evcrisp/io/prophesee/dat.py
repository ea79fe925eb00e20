"""Read and write DAT files of Prophesee and ATIS: a text header, two bytes, 8 bytes per event."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError, OutputError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Triggers
from evcrisp.io.byte_blocks import read_records
from evcrisp.io.looping_clock import last_block_before
from evcrisp.io.prophesee import evt_header
from evcrisp.io.prophesee.evt_decoder import edge_triggers
from evcrisp.io.protocol import ATIS_SIZES, Columns, Packet, Reader, Source, Writer, keeping

logger = logging.getLogger(__name__)

TITLE = "DAT (Prophesee, ATIS)"
#: Sensor sides, px; coordinates of version 2 have 14 bits.
MAX_SIZE = 1 << 14
EVENT_BYTES = 8
#: Type byte: 2-d events, contrast events (the same layout), triggers.
EVENT_2D, EVENT_CD, EVENT_TRIGGER = 0x00, 0x0C, 0x0E
#: Events between two samples of the clock: at most so many must not last a loop of 72 minutes.
_BLOCK_EVENTS = 1 << 11
_CLOCK_BITS = 32
#: Version -> bits of x and y in the address; the polarity follows.
_LAYOUTS = {"1": (9, 8), "2": (14, 14)}


@dataclass(slots=True, kw_only=True)
class _DatSource(Source):
    start: int  # byte of the first event
    kind: int
    layout: tuple[int, int]
    t_base: int  # us
    t_start: int | None = None  # us, to skip earlier blocks

    def between(self, t_start: int, t_end: int | None) -> "_DatSource":
        """Return a source that finds the first block by the times at the starts of blocks."""
        return replace(self, t_start=t_start)

    def packets(self) -> Iterator[Packet]:
        from evcrisp.kernels.io.dat import decode_dat

        if self.kind == EVENT_TRIGGER:
            return
        block, loops = self._first_block()
        state = np.array([loops, 0], np.int64)
        for offset, words in self._pieces(self._byte(block)):
            columns = Columns.empty(len(words))
            decode_dat(words, *self.layout, state, *columns)
            if self.t_base:
                columns.t[:] += self.t_base
            yield Packet(*columns, offset)

    def triggers(self) -> Triggers | None:
        """Return the triggers, which have a file of their own."""
        if self.kind != EVENT_TRIGGER:
            return None
        parts = [np.empty((0, 2), np.uint32)]
        with keeping(lambda: self._as_triggers(np.concatenate(parts))):
            parts += (words for _, words in self._pieces(self.start))
        return self._as_triggers(np.concatenate(parts))

    def _as_triggers(self, words: NDArray[np.uint32]) -> Triggers:
        raw = words[:, 0].astype(np.int64)
        loops = np.cumsum(np.diff(raw, prepend=raw[:1]) < -(1 << 31))
        return edge_triggers(raw + (loops << 32) + self.t_base, words[:, 1] & 1, words[:, 1] >> 26)

    def _pieces(self, start: int) -> Iterator[tuple[int, NDArray[np.uint32]]]:
        for offset, data in read_records(self.path, start, EVENT_BYTES):
            yield offset, np.frombuffer(data, "<u4").reshape(-1, 2)

    def _first_block(self) -> tuple[int, int]:
        """Return the block where reading starts, and the loops of the clock before it, us."""
        if self.t_start is None:
            return 0, 0
        with self.path.open("rb", buffering=0) as file:

            def sample(block: int) -> int:
                file.seek(self._byte(block))
                return int.from_bytes(file.read(4), "little")

            n_blocks = (self.n_events or 0) // _BLOCK_EVENTS
            return last_block_before(self.t_start - self.t_base, n_blocks, sample, _CLOCK_BITS)

    def _byte(self, block: int) -> int:
        return self.start + block * _BLOCK_EVENTS * EVENT_BYTES


class DatReader(Reader):
    """Read DAT of version 1 (9 and 8 bits for x and y) and 2 (14 and 14 bits)."""

    name = "dat"
    title = TITLE
    suffixes = (".dat",)
    standard_sizes = ATIS_SIZES
    #: N-CARS has objects cut out of recordings, without their size.
    holds_crops = True

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the type and the size of events after the header."""
        header = evt_header.parse_header(head)
        if header.size == 0 or header.format_name is not None:
            return False
        kind, size = (*head[header.size : header.size + 2], -1, -1)[:2]
        return kind in (EVENT_2D, EVENT_CD, EVENT_TRIGGER) and size == EVENT_BYTES

    def open(self, path: Path) -> _DatSource:
        """Read the header and the two bytes after it."""
        header = evt_header.read_header(path)
        if header.size == 0:
            raise FormatError("a DAT file must have a header of lines that start with '%'")
        with path.open("rb") as file:
            file.seek(header.size)
            kind_and_size = file.read(2)
        kind = _checked_kind(kind_and_size, header.size)
        start = header.size + 2
        n_bytes = path.stat().st_size - start
        n_events = 0 if kind == EVENT_TRIGGER else n_bytes // EVENT_BYTES
        return _DatSource(
            *(header.resolution, dict(header.fields), n_events),
            path=path,
            start=start,
            kind=kind,
            layout=_layout(header),
            t_base=header.time_base,
        )


def _checked_kind(kind_and_size: bytes, offset: int) -> int:
    if len(kind_and_size) < 2:
        raise FormatError("the file ends after its header", offset=offset)
    kind, size = kind_and_size
    if size != EVENT_BYTES:
        found = counted(size, "byte")
        raise FormatError(f"events of {found}; expected {EVENT_BYTES}", offset=offset + 1)
    if kind not in (EVENT_2D, EVENT_CD, EVENT_TRIGGER):
        raise FormatError(
            f"events of type {kind}; only {EVENT_2D} (2-d), {EVENT_CD} (contrast) and "
            f"{EVENT_TRIGGER} (triggers) are read",
            offset=offset,
        )
    return kind


def _layout(header: evt_header.PropheseeHeader) -> tuple[int, int]:
    """Return the layout of the version; 2 if the header states none, as in the vendor's tools."""
    version = header.fields.get("version") or "2"
    if version not in _LAYOUTS:
        raise FormatError(f"DAT of version {version}; only 1 and 2 are read")
    return _LAYOUTS[version]


@dataclass(slots=True, kw_only=True)
class _DatSink(evt_header.HeadedSink):
    resolution: tuple[int, int]
    t_last: int = field(default=0, init=False)

    def header(self, t_origin: int) -> bytes:
        """Return the header, and the type and size of the events."""
        width, height = self.resolution
        origin = f"% T0 {t_origin}\n" if t_origin else ""
        text = (
            "% Data file containing CD events.\n"
            f"% Version 2\n% Height {height}\n% Width {width}\n{origin}% end\n"
        )
        return text.encode("ascii") + bytes((EVENT_CD, EVENT_BYTES))

    def write_columns(self, columns: Columns) -> None:
        from evcrisp.kernels.io.dat import encode_dat

        self._check_loops(columns.t)
        out = np.empty((columns.t.size, 2), np.uint32)
        encode_dat(*columns, out)
        self.file.write(out.astype("<u4", copy=False).data)

    def _check_loops(self, t: NDArray[np.int64]) -> None:
        """Raise if readers could miss a loop of the 32-bit clock; warn at the first loop."""
        if int(t[-1]) >> 32 == self.t_last >> 32:
            self.t_last = int(t[-1])
            return
        steps = np.diff(t, prepend=self.t_last)
        starts_over = (t >> 32) != ((t - steps) >> 32)
        if (steps[starts_over] >= 1 << 31).any():
            raise OutputError(
                f"{TITLE} does not keep a pause of {steps[starts_over].max()} us.",
                remedy=evt_header.SPLIT,
            )
        if self.t_last >> 32 == 0:
            logger.warning(
                "%s has a clock of 32 bits, which starts over after 71.6 minutes. evcrisp and faery "
                "count its loops; other programs may not.",
                TITLE,
            )
        self.t_last = int(t[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class DatWriter(Writer):
    """Write DAT of version 2."""

    name = "dat"
    title = TITLE
    suffixes = (".dat",)

    def open(self, path: Path, resolution: tuple[int, int]) -> _DatSink:
        """Start a file."""
        evt_header.check_size(TITLE, resolution, MAX_SIZE)
        return _DatSink(file=path.open("wb"), title=TITLE, max_start=1 << 32, resolution=resolution)
