"""PNG images with 16 bits per channel, RGB. Pillow reduces them to 8 bits.

The parts of the PNG specification (ISO/IEC 15948) that such images need: no palette, no
interlacing. All five row filters are read; rows are written with the filter "up".
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.flow.stored_flow import check_size

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">IIBBBBB")
_PIXEL_BYTES = 6
#: Longest text that is read.
_MAX_TEXT_BYTES = 256
_UP = 2


def write_rgb48(path: Path, pixels: NDArray[np.uint16], texts: Mapping[str, str]) -> None:
    """Write pixels, shape (h, w, 3), and Latin-1 texts by keyword."""
    height, width = pixels.shape[:2]
    rows = np.ascontiguousarray(pixels.astype(">u2")).view(np.uint8).reshape(height, -1)
    filtered = np.empty((height, 1 + rows.shape[1]), np.uint8)
    filtered[:, 0] = _UP
    filtered[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
    with path.open("wb") as file:
        file.write(_SIGNATURE)
        _write_chunk(file, b"IHDR", _HEADER.pack(width, height, 16, 2, 0, 0, 0))
        for keyword, text in texts.items():
            _write_chunk(file, b"tEXt", f"{keyword}\0{text}".encode("latin-1"))
        _write_chunk(file, b"IDAT", zlib.compress(filtered.tobytes(), 6))
        _write_chunk(file, b"IEND", b"")


def _write_chunk(file: IO[bytes], kind: bytes, data: bytes) -> None:
    checksum = zlib.crc32(kind + data)
    file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum))


def read_rgb48(path: Path) -> tuple[NDArray[np.uint16], dict[str, str]]:
    """Return the pixels, shape (h, w, 3), and the short texts by keyword.

    Memory is bounded by the size that the header states, which is checked first.
    """
    with path.open("rb") as file:
        if file.read(len(_SIGNATURE)) != _SIGNATURE:
            raise FormatError("it does not start as a PNG file")
        chunks = _chunks(file)
        kind, data, offset = next(chunks)
        width, height = _size(kind, data, offset)
        row_bytes = 1 + _PIXEL_BYTES * width
        stream, packed = zlib.decompressobj(), bytearray()
        texts: dict[str, str] = {}
        for kind, data, offset in chunks:
            if kind == b"IDAT":
                left = (
                    height * row_bytes + 1 - len(packed)
                )  # one more shows that there are too many
                try:
                    packed += stream.decompress(data, left) if left else b""
                except zlib.error as error:
                    raise FormatError(f"the pixels are damaged: {error}", offset=offset) from error
            elif kind == b"tEXt" and len(data) <= _MAX_TEXT_BYTES:
                keyword, _, text = data.decode("latin-1").partition("\0")
                texts[keyword] = text
    if len(packed) != height * row_bytes:
        reason = f"the pixels of {width} x {height} px take {height * row_bytes:,} bytes"
        found = "more" if len(packed) > height * row_bytes else f"{len(packed):,}"
        raise FormatError(f"{reason}; the file has {found}", offset=offset)
    rows = np.frombuffer(packed, np.uint8).reshape(height, row_bytes)
    filters = rows[:, 0]
    if filters.max() > 4:
        raise FormatError(f"a row has the unknown filter {filters.max()}", offset=offset)
    raw = _unfiltered(filters, rows[:, 1:].reshape(height, width, _PIXEL_BYTES))
    return raw.view(">u2").astype(np.uint16), texts


def _chunks(file: IO[bytes]) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield kind, data and place of each chunk up to IEND; raise if one is damaged."""
    n_bytes = file.seek(0, 2)
    offset = file.seek(len(_SIGNATURE))
    kind = b""
    while kind != b"IEND":
        head = file.read(8)
        length = int.from_bytes(head[:4], "big")
        if len(head) < 8 or offset + 12 + length > n_bytes:
            raise FormatError("the file ends within a chunk", offset=offset)
        kind, data = head[4:], file.read(length)
        if zlib.crc32(kind + data) != int.from_bytes(file.read(4), "big"):
            raise FormatError(f"the checksum of chunk {kind!r} is wrong", offset=offset)
        yield kind, data, offset
        offset += 12 + length


def _size(kind: bytes, data: bytes, offset: int) -> tuple[int, int]:
    if kind != b"IHDR" or len(data) != _HEADER.size:
        raise FormatError("the first chunk is no PNG header", offset=offset)
    width, height, depth, color, compression, filtering, interlace = _HEADER.unpack(data)
    check_size(width, height, offset)
    if (depth, color) != (16, 2):
        names = {0: "gray", 2: "RGB", 3: "palette", 4: "gray and alpha", 6: "RGBA"}
        found = f"{depth} bits, {names.get(color, 'unknown colors')}"
        raise FormatError(f"a flow image has 16 bits per channel, RGB; got {found}", offset=offset)
    if (compression, filtering, interlace) != (0, 0, 0):
        raise FormatError("interlaced images and unknown methods are not read", offset=offset)
    return width, height


def _unfiltered(filters: NDArray[np.uint8], rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Undo the filters of all rows, (h,) and (h, w, bytes).

    A byte depends on the pixels to the left, above, and above left. All pixels of a diagonal from
    the lower left to the upper right are therefore computed at once.
    """
    height, width, depth = rows.shape
    # One row above and one column to the left are zero.
    out = np.zeros((height + 1, width + 1, depth), np.uint8)
    flat_out, flat_in = out.reshape(-1, depth), rows.reshape(-1, depth)
    for diagonal in range(height + width - 1):
        first, last = max(0, diagonal - width + 1), min(height - 1, diagonal)
        # From one pixel of a diagonal to the next: one row down, one column to the left.
        start, n = first * (width + 1) + diagonal - first, last - first + 1
        above_left = flat_out[start : start + n * width : width].astype(np.int16)
        above = flat_out[start + 1 : start + 1 + n * width : width].astype(np.int16)
        left_at = start + width + 1
        left = flat_out[left_at : left_at + n * width : width].astype(np.int16)
        given_at, step = first * width + diagonal - first, max(width - 1, 1)
        given = flat_in[given_at : given_at + (n - 1) * step + 1 : step]
        predicted = _predicted(filters[first : last + 1, None], left, above, above_left)
        flat_out[left_at + 1 : left_at + 1 + n * width : width] = given + predicted
    return out[1:, 1:]


def _predicted(
    filters: NDArray[np.uint8],
    left: NDArray[np.int16],
    above: NDArray[np.int16],
    above_left: NDArray[np.int16],
) -> NDArray[np.uint8]:
    """Return the prediction of each byte by the filter of its row."""
    far_left = np.abs(above - above_left)  # distance of left from left + above - above_left
    far_above = np.abs(left - above_left)
    far_both = np.abs(left + above - 2 * above_left)
    paeth = np.where(far_above <= far_both, above, above_left)
    paeth = np.where((far_left <= far_above) & (far_left <= far_both), left, paeth)
    choices = (np.zeros_like(left), left, above, (left + above) >> 1, paeth)
    return np.choose(filters, choices).astype(np.uint8)
