"""Read Prophesee RAW files: a text header, then EVT 2.0, EVT 2.1 or EVT 3.0 words."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from io import RawIOBase
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError, Setting
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Triggers
from evcrisp.io.looping_clock import last_block_before
from evcrisp.io.prophesee.evt_decoder import Evt2Decoder, Evt3Decoder, Evt21Decoder, EvtDecoder
from evcrisp.io.prophesee.evt_header import PropheseeHeader, parse_header, read_header
from evcrisp.io.protocol import PACKET_EVENTS, PROPHESEE_SIZES, Packet, Reader, Source, keeping

logger = logging.getLogger(__name__)

#: Sensor sides, px; coordinates have 11 bits.
MAX_SIZE = 2048
_PIECE_BYTES = 1 << 19
#: Bytes between two samples of the clock: at most so many must not last a loop of 4.8 hours.
_BLOCK_BYTES = 1 << 16
#: Bytes of a block in which an event with its time is sought; few events need the larger number.
_SAMPLE_BYTES = (1 << 10, 1 << 14)
#: Clocks with fewer bits start over too often to be followed from block to block.
_LONG_CLOCK_BITS = 32


@dataclass(slots=True, kw_only=True)
class _EvtSource(Source):
    start: int  # byte of the first word
    make_decoder: Callable[..., EvtDecoder]
    t_base: int = 0  # us
    span: tuple[int, int | None] | None = None  # us, to skip words outside
    _has_reported: bool = field(default=False, init=False)

    def between(self, t_start: int, t_end: int | None) -> "_EvtSource":
        """Return a source that skips blocks before the span, except of EVT 3.0.

        The clock of EVT 3.0 starts over every 16.8 s, and only its words tell how often.
        """
        return replace(self, span=(t_start, t_end))

    def packets(self) -> Iterator[Packet]:
        start, loops = self._start()
        decoder = self.make_decoder(keep_triggers=False, t_base=self.t_base + loops)
        n_events = 0
        try:
            for offset, words in self._words(decoder.word_dtype, start):
                for x, y, t, p in decoder.pieces(words, 4 * PACKET_EVENTS):
                    n_good = x.size if self.resolution else _n_possible(x)
                    n_events += n_good
                    yield Packet(x[:n_good], y[:n_good], t[:n_good], p[:n_good], offset)
                    if n_good < x.size:
                        reason = f"a vector reaches x={x[n_good]}; x ends at {MAX_SIZE - 1}"
                        raise FormatError(reason, offset=offset)
        except FormatError:
            self._report(decoder)
            raise
        if decoder.n_lost and not n_events:
            reason = f"no event of {decoder.n_lost:,} has a time: the file lacks TIME_HIGH words"
            raise FormatError(reason, offset=self.start)
        self._report(decoder)

    def triggers(self) -> Triggers | None:
        """Return the external triggers, from a pass over the whole file."""
        start, loops = self._start()
        decoder = self.make_decoder(keep_triggers=True, t_base=self.t_base + loops)
        pieces = self._words(decoder.word_dtype, start)
        if self.span is not None:
            return self._triggers_until(self.span[1], decoder, pieces) or None
        if not any(decoder.has_triggers(words) for _, words in pieces):
            return None
        return self._triggers_until(None, decoder, self._words(decoder.word_dtype, start))

    def _triggers_until(
        self, t_end: int | None, decoder: EvtDecoder, pieces: Iterator[tuple[int, NDArray[Any]]]
    ) -> Triggers:
        """Return the triggers up to the first event from ``t_end`` on."""
        with keeping(decoder.triggers):
            for _, words in pieces:
                columns = [piece.t for piece in decoder.pieces(words, 4 * PACKET_EVENTS)]
                if t_end is not None and any(t.size and t[-1] >= t_end for t in columns):
                    break
        return decoder.triggers()

    def _start(self) -> tuple[int, int]:
        """Return the byte where reading starts, and the loops of the clock before it, us."""
        if self.span is None or (kind := self.make_decoder()).clock_bits < _LONG_CLOCK_BITS:
            return self.start, 0
        with self.path.open("rb", buffering=0) as file:

            def sample(block: int) -> int | None:
                for n_bytes in _SAMPLE_BYTES:
                    file.seek(self.start + block * _BLOCK_BYTES)
                    data = file.read(n_bytes)
                    n = len(data) // kind.word_dtype.itemsize
                    words = np.frombuffer(data, kind.word_dtype, n)
                    t = self.make_decoder(keep_triggers=False).decode(words).t
                    if t.size:
                        return int(t[0])
                return None

            n_blocks = (self.path.stat().st_size - self.start) // _BLOCK_BYTES
            t_start = self.span[0] - self.t_base
            block, loops = last_block_before(t_start, n_blocks, sample, kind.clock_bits)
        return self.start + block * _BLOCK_BYTES, loops

    def _words(self, dtype: np.dtype[Any], start: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (byte, words) in pieces; the array is reused."""
        buffer = bytearray(_PIECE_BYTES)
        with self.path.open("rb", buffering=0) as file:
            offset = file.seek(start)
            while n_bytes := _read_into(file, buffer):
                n_over = n_bytes % dtype.itemsize
                yield offset, np.frombuffer(buffer, dtype, n_bytes // dtype.itemsize)
                offset += n_bytes
                if n_over:
                    reason = f"the file ends within a word of {dtype.itemsize} bytes"
                    raise FormatError(reason, offset=offset - n_over)

    def _report(self, decoder: EvtDecoder) -> None:
        """Log once how many words gave no events, and add the numbers to the metadata."""
        if self._has_reported or self.span is not None:
            return
        self._has_reported = True
        lost, reserved = decoder.n_lost, decoder.n_reserved
        if lost:
            text = "%s: %s before the first time stamp have no time; left out."
            logger.warning(text, self.path, counted(lost, "event"))
        if reserved:
            text = "%s: skipped %s of a type that the format does not document."
            logger.warning(text, self.path, counted(reserved, "word"))
        numbers = {"n_events_without_time": lost, "n_reserved_words": reserved}
        self.metadata = {**self.metadata, **numbers}


def _read_into(file: RawIOBase, buffer: bytearray) -> int:
    """Fill a buffer up to the end of the file; a single read can return less."""
    view = memoryview(buffer)
    n_bytes = 0
    while n_bytes < len(buffer) and (n := file.readinto(view[n_bytes:])):
        n_bytes += n
    return n_bytes


def _n_possible(x: NDArray[np.uint16]) -> int:
    """Return the number of events before the first impossible x, to guess the size from."""
    return x.size if x.size == 0 or x.max() < MAX_SIZE else int(np.argmax(x >= MAX_SIZE))


def _open(path: Path, header: PropheseeHeader, kind: type[EvtDecoder]) -> _EvtSource:
    options = {"legacy": header.has_legacy_halves} if kind is Evt21Decoder else {}
    make_decoder = partial(kind, **options)
    size = None if max(header.resolution or (0, 0)) > MAX_SIZE else header.resolution
    facts = {**header.fields, **options}
    return _EvtSource(
        size,
        facts,
        path=path,
        start=header.size,
        make_decoder=make_decoder,
        t_base=header.time_base,
    )


class _EvtReader(Reader):
    """Base of the readers; each has its name in headers and its decoder."""

    header_name: ClassVar[str]
    decoder: ClassVar[type[EvtDecoder]]
    suffixes = (".raw",)
    standard_sizes = PROPHESEE_SIZES

    def recognizes(self, head: bytes, path: Path) -> bool:
        return head.startswith(b"%") and parse_header(head).format_name == self.header_name

    def open(self, path: Path) -> _EvtSource:
        """Read the header, which can be missing."""
        header = read_header(path)
        if header.format_name not in (None, self.header_name):
            stated = f"the header states format {header.format_name}, not {self.header_name}"
            raise FormatError(stated, remedy="Give no format, so that it is detected.")
        return _open(path, header, self.decoder)


class Evt2Reader(_EvtReader):
    """Read EVT 2.0."""

    name = "evt2"
    title = "Prophesee RAW, EVT 2.0"
    header_name = "EVT2"
    decoder = Evt2Decoder


class Evt21Reader(_EvtReader):
    """Read EVT 2.1, with the halves of words in either order."""

    name = "evt21"
    title = "Prophesee RAW, EVT 2.1"
    header_name = "EVT21"
    decoder = Evt21Decoder


class Evt3Reader(_EvtReader):
    """Read EVT 3.0."""

    name = "evt3"
    title = "Prophesee RAW, EVT 3.0"
    header_name = "EVT3"
    decoder = Evt3Decoder


class RawReader(_EvtReader):
    """Read RAW files in the format stated by the header; used for the suffix."""

    name = "raw"
    title = "Prophesee RAW, format from the header"
    header_name = ""

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Return False: the readers of the three formats recognize the content."""
        return False

    def open(self, path: Path) -> _EvtSource:
        """Read the header and choose the decoder."""
        header = read_header(path)
        kinds = {kind.header_name: kind for kind in (Evt2Reader, Evt21Reader, Evt3Reader)}
        if header.format_name in kinds:
            return _open(path, header, kinds[header.format_name].decoder)
        name = header.format_name
        stated = "no format" if name is None else f"the format {name}, which is not read"
        remedy = Setting("If it is known, name evt3, evt2 or evt21", "format")
        raise FormatError(f"the header states {stated}", remedy=remedy)
