"""N-MNIST and its relatives: five bytes per event, big-endian, without any header.

Byte 0 is x, byte 1 is y, the highest bit of byte 2 is the polarity, and the other 23 bits are time.
A word with y = 240 is no event: it says that 2**13 us more have passed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.protocol import PACKET_EVENTS, Packet, Source

_WORD_BYTES = 5
_OVERFLOW_Y = 240
_OVERFLOW_US = 1 << 13
_SIDE = 34
#: Files up to this size are looked through; those of N-MNIST have about 25 kB.
_SMALL_BYTES = 1 << 20


@dataclass(slots=True)
class NmnistSource(Source):
    """An open file of five-byte words."""

    path: Path = field(kw_only=True)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        offset, t_base = 0, 0
        with self.path.open("rb") as file:
            while block := file.read(_WORD_BYTES * PACKET_EVENTS):
                words = _words(block)
                extra = t_base + _OVERFLOW_US * np.cumsum(words[:, 1] == _OVERFLOW_Y)
                t_base = int(extra[-1]) if extra.size else t_base
                good = np.flatnonzero(words[:, 1] != _OVERFLOW_Y)
                kept = words[good]
                yield Packet(
                    x=kept[:, 0].astype(np.uint16),
                    y=kept[:, 1].astype(np.uint16),
                    t=_time(kept) + extra[good],
                    p=kept[:, 2] >= 128,
                    offset=offset,
                )
                offset += words.size
                if len(block) % _WORD_BYTES:
                    raise FormatError("the file ends within an event", offset=offset)


def _words(block: bytes) -> NDArray[np.uint8]:
    n = len(block) // _WORD_BYTES
    return np.frombuffer(block, np.uint8, n * _WORD_BYTES).reshape(n, _WORD_BYTES)


def _time(words: NDArray[np.uint8]) -> NDArray[np.int64]:
    high, middle, low = (words[:, column].astype(np.int64) for column in (2, 3, 4))
    return (high & 0x7F) << 16 | middle << 8 | low


@dataclass(frozen=True, slots=True)
class NmnistReader:
    """Read N-MNIST ``.bin`` files, and N-Caltech101, which has the same words."""

    name: ClassVar[str] = "nmnist"
    title: ClassVar[str] = "N-MNIST (.bin)"
    suffixes: ClassVar[tuple[str, ...]] = (".bin",)
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ((34, 34), (240, 180), (304, 240))
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Say no: nothing in the content tells these files from others; the suffix decides."""
        return False

    def open(self, path: Path) -> NmnistSource:
        """Open a file; the sensor is that of N-MNIST if the file is small and all events fit it."""
        fits = path.stat().st_size <= _SMALL_BYTES and _fits_nmnist(path.read_bytes())
        return NmnistSource(resolution=(_SIDE, _SIDE) if fits else None, path=path)


def _fits_nmnist(content: bytes) -> bool:
    words = _words(content)
    places = words[words[:, 1] != _OVERFLOW_Y, :2]
    return places.size > 0 and bool((places < _SIDE).all())
