"""Prophesee RAW files: a text header, then EVT 2.0, EVT 2.1 or EVT 3.0 words."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import RawIOBase
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError, Setting
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Triggers
from evcrisp.io.prophesee.evt_decoder import Evt2Decoder, Evt3Decoder, Evt21Decoder, EvtDecoder
from evcrisp.io.prophesee.evt_header import PropheseeHeader, header_of, parse_header
from evcrisp.io.protocol import PACKET_EVENTS, Packet, Source
from evcrisp.io.standard_sizes import PROPHESEE_SIZES

logger = logging.getLogger(__name__)

#: Coordinates have 11 bits.
MAX_SIZE = 2048
_PIECE_BYTES = 1 << 19


@dataclass(slots=True)
class EvtSource(Source):
    """An open RAW file."""

    path: Path = field(kw_only=True)
    data_start: int = field(kw_only=True)  # bytes
    make_decoder: Callable[[bool], EvtDecoder] = field(kw_only=True)  # keep_triggers -> decoder
    _is_told: bool = field(default=False, init=False)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        decoder = self.make_decoder(False)
        n_events = 0
        try:
            for offset, words in self._words(decoder.word_dtype):
                for x, y, t, p in decoder.pieces(words, 4 * PACKET_EVENTS):
                    n_good = x.size if self.resolution else _n_possible(x)
                    n_events += n_good
                    yield Packet(x[:n_good], y[:n_good], t[:n_good], p[:n_good], offset)
                    if n_good < x.size:
                        reason = f"a vector reaches x={x[n_good]}; x ends at {MAX_SIZE - 1}"
                        raise FormatError(reason, offset=offset)
        except FormatError:
            self._tell(decoder)
            raise
        if decoder.n_lost and not n_events:
            raise FormatError(
                f"no event of {decoder.n_lost:,} has a time: the file lacks TIME_HIGH words",
                offset=self.data_start,
            )
        self._tell(decoder)

    def triggers(self) -> Triggers | None:
        """Return the external triggers, from a pass over the whole file."""
        decoder = self.make_decoder(True)
        pieces = self._words(decoder.word_dtype)
        if not any(decoder.has_triggers(words) for _, words in pieces):
            return None
        try:
            for _, words in self._words(decoder.word_dtype):
                for _ in decoder.pieces(words, 4 * PACKET_EVENTS):
                    pass
        except FormatError as error:
            error.partial = decoder.triggers()
            raise
        return decoder.triggers()

    def _words(self, dtype: np.dtype[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the words in pieces, with the byte where each starts; the array is reused."""
        buffer = bytearray(_PIECE_BYTES)
        with self.path.open("rb", buffering=0) as file:
            offset = file.seek(self.data_start)
            while n_bytes := _read_into(file, buffer):
                n_over = n_bytes % dtype.itemsize
                yield offset, np.frombuffer(buffer, dtype, n_bytes // dtype.itemsize)
                offset += n_bytes
                if n_over:
                    raise FormatError(
                        f"the file ends inside a word of {dtype.itemsize} bytes",
                        offset=offset - n_over,
                    )

    def _tell(self, decoder: EvtDecoder) -> None:
        """Say once what the stream holds that is not among the events."""
        if self._is_told:
            return
        self._is_told = True
        if decoder.n_lost:
            logger.warning(
                "%s: %s came before the first time stamp, without a time; left out.",
                self.path,
                counted(decoder.n_lost, "event"),
            )
        if decoder.n_reserved:
            logger.warning(
                "%s: passed over %s of a type that the format does not document.",
                self.path,
                counted(decoder.n_reserved, "word"),
            )
        self.metadata = {
            **self.metadata,
            "n_events_without_time": decoder.n_lost,
            "n_reserved_words": decoder.n_reserved,
        }


def _read_into(file: RawIOBase, buffer: bytearray) -> int:
    """Fill a buffer as far as the file goes; a single read may return less."""
    view = memoryview(buffer)
    n_bytes = 0
    while n_bytes < len(buffer) and (n := file.readinto(view[n_bytes:])):
        n_bytes += n
    return n_bytes


def _n_possible(x: NDArray[np.uint16]) -> int:
    """Return how many events come before one that no sensor has, so that a guess stays sane."""
    return x.size if x.size == 0 or x.max() < MAX_SIZE else int(np.argmax(x >= MAX_SIZE))


def _open(path: Path, header: PropheseeHeader, kind: type[EvtDecoder]) -> EvtSource:
    t_base = header.time_base
    options = {"legacy": header.has_legacy_halves} if kind is Evt21Decoder else {}

    def make_decoder(keep_triggers: bool) -> EvtDecoder:
        return kind(t_base=t_base, keep_triggers=keep_triggers, **options)

    size = header.resolution
    return EvtSource(
        resolution=None if size is None or max(size) > MAX_SIZE else size,
        metadata={**header.fields, **options},
        path=path,
        data_start=header.size,
        make_decoder=make_decoder,
    )


class _EvtReader:
    """What the readers share: each names its format and its decoder."""

    name: ClassVar[str]
    title: ClassVar[str]
    header_name: ClassVar[str]
    decoder: ClassVar[type[EvtDecoder]]
    suffixes: ClassVar[tuple[str, ...]] = (".raw",)
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = PROPHESEE_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the format in the header."""
        return head.startswith(b"%") and parse_header(head).format_name == self.header_name

    def open(self, path: Path) -> EvtSource:
        """Read the header. It may be missing: then the caller knows the format."""
        header = header_of(path)
        if header.format_name not in (None, self.header_name):
            raise FormatError(
                f"the header says format {header.format_name}, not {self.header_name}",
                remedy="Give no format, so that it is detected.",
            )
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
    """Read RAW files by what their header says; the last resort for the suffix."""

    name = "raw"
    title = "Prophesee RAW, format from the header"
    header_name = ""

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Leave content to the readers of the formats."""
        return False

    def open(self, path: Path) -> EvtSource:
        """Read the header and choose the decoder."""
        header = header_of(path)
        kinds = {kind.header_name: kind for kind in (Evt2Reader, Evt21Reader, Evt3Reader)}
        if header.format_name in kinds:
            return _open(path, header, kinds[header.format_name].decoder)
        what = (
            "does not say the format"
            if header.format_name is None
            else (f"says format {header.format_name}, which is not read")
        )
        raise FormatError(
            f"the header {what}",
            remedy=Setting("If it is known, name evt3, evt2 or evt21", "format"),
        )
