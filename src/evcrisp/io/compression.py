"""The codecs of AEDAT4 packets. What a packet may expand to is bounded before it is expanded."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar, Protocol

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.messages import counted
from evcrisp.core.registry import require

#: A packet may expand to this many bytes whatever its size (equal events compress very well) ...
_ALWAYS_ALLOWED = 1 << 26
#: ... and beyond that to this many times its size; never to more than a FlatBuffer can address.
_ALLOWED_RATIO = 32
_FLATBUFFER_LIMIT = (1 << 31) - 1
#: LZ4 cannot do better than 255 to 1, so that a packet of this size needs no watching.
_LZ4_HARMLESS = _ALWAYS_ALLOWED // 255


class Codec(Protocol):
    """One way to compress packets."""

    name: ClassVar[str]

    def decoder(self) -> Callable[[bytes], bytes]:
        """Return a function that expands one packet, or raises `FormatError` (without an offset).

        It keeps buffers between calls, so each reader needs its own.
        """
        ...

    def encode(self, data: memoryview) -> bytes | memoryview:
        """Compress one packet."""
        ...


def allowed_size(size: int) -> int:
    """Return how many bytes a packet of this size may expand to."""
    return min(max(_ALWAYS_ALLOWED, _ALLOWED_RATIO * size), _FLATBUFFER_LIMIT)


def _too_large(size: int) -> FormatError:
    return FormatError(
        f"a packet of {counted(size, 'byte')} expands to more than {allowed_size(size):,} bytes"
    )


@dataclass(frozen=True, slots=True)
class Stored:
    """No compression."""

    name: ClassVar[str] = "none"

    def decoder(self) -> Callable[[bytes], bytes]:
        """Return a function that returns the packet as it is."""
        return bytes

    def encode(self, data: memoryview) -> memoryview:
        """Return the packet as it is."""
        return data


@dataclass(frozen=True, slots=True)
class Lz4Frame:
    """LZ4 frames. Written without checksum, like DV's: verifying one costs 40 % of reading speed."""

    name: ClassVar[str] = "lz4"

    level: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.level <= 16:
            raise ConfigError(f"`level` must lie in 0..16 for lz4; got {self.level}.")

    def decoder(self) -> Callable[[bytes], bytes]:
        """Return a function that expands one frame."""
        from lz4.frame import create_decompression_context, decompress_chunk

        # Up to three times faster than `lz4.frame.decompress`, which makes a context per call.
        context = create_decompression_context()

        def decode(data: bytes) -> bytes:
            try:
                if len(data) <= _LZ4_HARMLESS:
                    expanded, _, is_complete = decompress_chunk(context, data)
                else:
                    expanded, is_complete = _expand_watched(context, data)
            except (RuntimeError, MemoryError) as error:
                raise FormatError(f"LZ4 data is damaged ({error})") from error
            if not is_complete:
                raise FormatError("LZ4 data is damaged (it ends before its end mark)")
            return expanded

        return decode

    def encode(self, data: memoryview) -> bytes:
        """Compress into one frame of independent blocks of 64 KiB.

        Larger or linked blocks of events are larger in sum, and slower both ways.
        """
        from lz4.frame import BLOCKSIZE_MAX64KB, compress

        return compress(
            data,
            compression_level=self.level,
            block_size=BLOCKSIZE_MAX64KB,
            block_linked=False,
        )


def _expand_watched(context: Any, data: bytes) -> tuple[bytes, bool]:
    """Expand an LZ4 frame step by step up to the limit; return it, and whether its end was met."""
    from lz4.frame import decompress_chunk

    limit = allowed_size(len(data))
    rest = memoryview(data)
    parts: list[bytes] = []
    size = 0
    while size <= limit:
        room = min(4 * len(data), limit + 1 - size)
        part, n_read, is_complete = decompress_chunk(context, rest, max_length=room)
        parts.append(part)
        size += len(part)
        rest = rest[n_read:]
        if is_complete or not (part or n_read):
            return b"".join(parts), is_complete
    raise _too_large(len(data))


@dataclass(frozen=True, slots=True)
class Zstd:
    """Zstandard frames, written with a checksum (its cost is within the noise)."""

    name: ClassVar[str] = "zstd"

    level: int = 3
    _compressor: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.level <= 22:
            raise ConfigError(f"`level` must lie in 1..22 for zstd; got {self.level}.")
        compressor = _zstandard().ZstdCompressor(level=self.level, write_checksum=True)
        object.__setattr__(self, "_compressor", compressor)

    def decoder(self) -> Callable[[bytes], bytes]:
        """Return a function that expands one frame."""
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
            except (library.ZstdError, MemoryError) as error:
                raise FormatError(f"Zstandard data is damaged ({error})") from error
            if len(expanded) > limit:
                raise _too_large(len(data))
            return expanded

        return decode

    def encode(self, data: memoryview) -> bytes:
        """Compress into one frame."""
        return self._compressor.compress(data)


def _zstandard() -> ModuleType:
    return require("zstandard", extra="zstd", purpose="Zstandard-compressed recordings")
