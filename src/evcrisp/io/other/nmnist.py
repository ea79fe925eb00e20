"""Read N-MNIST and related data sets: five bytes per event, big-endian, without a header.

Byte 0 is x, byte 1 is y, the highest bit of byte 2 is the polarity, and the other 23 bits are time.
A word with y = 240 is not an event: it adds 2**13 us to the time of all later events.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evcrisp.io.byte_blocks import read_records
from evcrisp.io.protocol import Packet, Reader, Source

_WORD_BYTES = 5
_OVERFLOW_Y = 240
_OVERFLOW_US = 1 << 13
_SIDE = 34
#: Limit of files whose events are checked for the size; N-MNIST has about 25 kB.
_SMALL_BYTES = 1 << 20


class _NmnistSource(Source):
    """An open file of five-byte words."""

    def packets(self) -> Iterator[Packet]:
        t_base = 0
        for offset, data in read_records(self.path, 0, _WORD_BYTES):
            words = _words(data)
            extra = t_base + _OVERFLOW_US * np.cumsum(words[:, 1] == _OVERFLOW_Y)
            t_base = int(extra[-1])
            good = np.flatnonzero(words[:, 1] != _OVERFLOW_Y)
            kept = words[good]
            x, y = (kept[:, column].astype(np.uint16) for column in (0, 1))
            yield Packet(x, y, _time(kept) + extra[good], kept[:, 2] >= 128, offset)


def _words(block: bytes) -> NDArray[np.uint8]:
    n = len(block) // _WORD_BYTES
    return np.frombuffer(block, np.uint8, n * _WORD_BYTES).reshape(n, _WORD_BYTES)


def _time(words: NDArray[np.uint8]) -> NDArray[np.int64]:
    high, middle, low = (words[:, column].astype(np.int64) for column in (2, 3, 4))
    return (high & 0x7F) << 16 | middle << 8 | low


class NmnistReader(Reader):
    """Read ``.bin`` files of N-MNIST and N-Caltech101."""

    name = "nmnist"
    title = "N-MNIST (.bin)"
    suffixes = (".bin",)
    standard_sizes = ((34, 34), (240, 180), (304, 240))

    def open(self, path: Path) -> _NmnistSource:
        """Open a file; a small one whose events all fit has the sensor size of N-MNIST."""
        fits = path.stat().st_size <= _SMALL_BYTES and _fits_nmnist(path.read_bytes())
        return _NmnistSource(resolution=(_SIDE, _SIDE) if fits else None, path=path)


def _fits_nmnist(content: bytes) -> bool:
    words = _words(content)
    places = words[words[:, 1] != _OVERFLOW_Y, :2]
    return places.size > 0 and bool((places < _SIDE).all())
