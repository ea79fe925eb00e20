"""Compress and decompress packets of AEDAT4 and chunks of ROS bags, with limits of their size."""

import bz2
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.registry import require
from evcrisp.core.validation import check_number

#: Any packet may expand to this many bytes, because equal events compress very well ...
ALWAYS_ALLOWED = 1 << 26
#: ... and larger packets to this many times their size, up to the limit of a FlatBuffer.
ALLOWED_RATIO = 32
_FLATBUFFER_LIMIT = (1 << 31) - 1
#: LZ4 expands up to 255 times, so that packets up to this size need no check.
_LZ4_HARMLESS = ALWAYS_ALLOWED // 255


class Codec(Protocol):
    """A compression of packets."""

    def decoder(self) -> Callable[[bytes], bytes]:
        """Return a function that decompresses a packet; it keeps buffers: one for each reader."""
        ...

    def encode(self, data: memoryview) -> bytes | memoryview:
        """Compress one packet."""
        ...


def allowed_size(size: int) -> int:
    """Return the limit of the decompressed size of a packet, bytes."""
    return min(max(ALWAYS_ALLOWED, ALLOWED_RATIO * size), _FLATBUFFER_LIMIT)


def _too_large(size: int) -> FormatError:
    limit = f"{allowed_size(size):,} bytes"
    return FormatError(f"a packet of {counted(size, 'byte')} expands to more than {limit}")


class Expansion:
    """Counts how far the data of one file expand, and refuses files that expand without bound."""

    def __init__(self) -> None:
        self.n_packed = self.n_plain = 0  # bytes

    def add(self, n_packed: int, n_plain: int) -> None:
        """Add a piece; raise if all pieces together have expanded too far."""
        self.n_packed += n_packed
        self.n_plain += n_plain
        if self.n_plain > (limit := ALWAYS_ALLOWED + ALLOWED_RATIO * self.n_packed):
            found = counted(self.n_packed, "compressed byte")
            raise FormatError(f"{found} expands to more than {limit:,} bytes")

    def limited(self, decode: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
        """Return a function that decompresses packets and counts them."""

        def decode_counted(data: bytes) -> bytes:
            plain = decode(data)
            self.add(len(data), len(plain))
            return plain

        return decode_counted


@dataclass(frozen=True, slots=True)
class Stored:
    """No compression."""

    def decoder(self) -> Callable[[bytes], bytes]:
        """Return a function that copies the packet."""
        return bytes

    def encode(self, data: memoryview) -> memoryview:
        """Return the packet unchanged."""
        return data


@dataclass(frozen=True, slots=True)
class Lz4Frame:
    """LZ4 frames, without checksum as in DV: it would cost 40 % of the reading speed."""

    level: int = 0

    def __post_init__(self) -> None:
        check_number("level", self.level, 0, 16, whole=True)

    def decoder(self) -> Callable[[bytes], bytes]:
        """Return a function that decompresses one frame."""
        from lz4.frame import create_decompression_context, decompress_chunk

        # Up to three times faster than `lz4.frame.decompress`, which makes a context per call.
        context = create_decompression_context()

        def decode(data: bytes) -> bytes:
            try:
                if len(data) <= _LZ4_HARMLESS:
                    expanded, _, is_complete = decompress_chunk(context, data)
                else:
                    expanded, is_complete = _decompress_limited(context, data)
            except RuntimeError as error:
                raise FormatError(f"LZ4 data is damaged ({error})") from error
            if not is_complete:
                raise FormatError("LZ4 data is damaged (it has no end mark)")
            return expanded

        return decode

    def encode(self, data: memoryview) -> bytes:
        """Compress to one frame of independent blocks of 64 KiB, the smallest and fastest."""
        from lz4.frame import BLOCKSIZE_MAX64KB, compress

        size = BLOCKSIZE_MAX64KB
        return compress(data, compression_level=self.level, block_size=size, block_linked=False)


def _decompress_limited(context: Any, data: bytes) -> tuple[bytes, bool]:
    """Decompress an LZ4 frame in steps up to the limit; return it, and whether it is complete."""
    from lz4.frame import decompress_chunk

    limit = allowed_size(len(data))
    rest = memoryview(data)
    parts: list[bytes] = []
    size = 0
    while size <= limit:
        step = min(4 * len(data), limit + 1 - size)
        part, n_read, is_complete = decompress_chunk(context, rest, max_length=step)
        parts.append(part)
        size += len(part)
        rest = rest[n_read:]
        if is_complete or not (part or n_read):
            return b"".join(parts), is_complete
    raise _too_large(len(data))


@dataclass(frozen=True, slots=True)
class Zstd:
    """Zstandard frames, written with a checksum, whose cost is not measurable."""

    level: int = 3
    _compressor: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_number("level", self.level, 1, 22, whole=True)
        compressor = _zstandard().ZstdCompressor(level=self.level, write_checksum=True)
        object.__setattr__(self, "_compressor", compressor)

    def decoder(self) -> Callable[[bytes], bytes]:
        """Return a function that decompresses one frame."""
        library = _zstandard()
        decompressor = library.ZstdDecompressor(max_window_size=1 << 27)

        def decode(data: bytes) -> bytes:
            limit = allowed_size(len(data))
            try:
                declared = library.get_frame_parameters(data).content_size
                if declared == library.CONTENTSIZE_UNKNOWN:
                    with decompressor.stream_reader(data) as reader:
                        expanded = reader.read(limit + 1)
                elif declared <= limit:
                    return decompressor.decompress(data)
                else:
                    raise _too_large(len(data))
            except library.ZstdError as error:
                raise FormatError(f"Zstandard data is damaged ({error})") from error
            if len(expanded) > limit:
                raise _too_large(len(data))
            return expanded

        return decode

    def encode(self, data: memoryview) -> bytes:
        """Compress to one frame."""
        return self._compressor.compress(data)


def _zstandard() -> ModuleType:
    return require("zstandard", extra="zstd", purpose="Zstandard-compressed recordings")


ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

#: Limit of decompressed data, bytes; recorders write chunks of about 1 MB.
MAX_UNPACKED = 1 << 30


def unpack_chunk(kind: str, data: memoryview, size: int) -> memoryview:
    """Decompress a chunk of a bag: "none" (or ""), "bz2", "lz4" or "zstd"; check its size."""
    limit = min(MAX_UNPACKED, allowed_size(len(data)))
    limit = min(limit, 255 * len(data)) if kind == "lz4" else limit
    if kind in ("bz2", "lz4", "zstd") and size > limit:
        raise FormatError(f"a chunk states an impossible size of {counted(size, 'byte')}")
    if kind == "zstd":
        data = unpack_zstd(data, size)
    try:
        if kind == "bz2":
            data = memoryview(bz2.BZ2Decompressor().decompress(data, size + 1))
        elif kind == "lz4":
            from lz4.frame import LZ4FrameDecompressor

            data = memoryview(LZ4FrameDecompressor().decompress(data, size + 1))
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        raise FormatError(f"a chunk is damaged: {error}") from error
    if len(data) != size:
        raise FormatError(f"a chunk does not have the stated {counted(size, 'byte')}")
    return data


def unpack_zstd(data: memoryview, limit: int = MAX_UNPACKED) -> memoryview:
    """Decompress in pieces, up to one byte more than ``limit``."""
    zstandard = require("zstandard", extra="zstd", purpose="zstd-compressed ROS 2 bags")
    unpacked = bytearray()
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            while len(unpacked) <= limit and (block := reader.read(1 << 20)):
                unpacked += block
    except zstandard.ZstdError as error:
        raise FormatError(f"a chunk is damaged: {error}") from error
    return memoryview(unpacked)
