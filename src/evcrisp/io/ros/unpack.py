"""Decompress the chunks of bags, with a check of their sizes before allocation."""

import bz2
from collections.abc import Callable

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.registry import require

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

#: Limit of decompressed data, bytes; recorders write chunks of about 1 MB.
MAX_UNPACKED = 1 << 30
_LZ4_MAX_RATIO = 255
_BLOCK = 1 << 20


def _unpack_bz2(data: memoryview, size: int) -> memoryview:
    _check_stated_size(size)
    try:
        unpacked = bz2.BZ2Decompressor().decompress(data, size + 1)
    except (OSError, EOFError, ValueError) as error:
        raise FormatError(f"a chunk is damaged: {error}") from error
    return _checked(memoryview(unpacked), size)


def _unpack_lz4(data: memoryview, size: int) -> memoryview:
    import lz4.frame

    _check_stated_size(size, _LZ4_MAX_RATIO * len(data))
    try:
        unpacked = lz4.frame.LZ4FrameDecompressor().decompress(data, size + 1)
    except (RuntimeError, EOFError, ValueError) as error:
        raise FormatError(f"a chunk is damaged: {error}") from error
    return _checked(memoryview(unpacked), size)


def _unpack_zstd(data: memoryview, size: int) -> memoryview:
    _check_stated_size(size)
    return _checked(unpack_zstd(data, size), size)


def unpack_zstd(data: memoryview, limit: int = MAX_UNPACKED) -> memoryview:
    """Decompress in pieces, up to one byte more than ``limit``."""
    zstandard = require("zstandard", extra="zstd", purpose="zstd-compressed ROS 2 bags")
    unpacked = bytearray()
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            while len(unpacked) <= limit and (block := reader.read(_BLOCK)):
                unpacked += block
    except zstandard.ZstdError as error:
        raise FormatError(f"a chunk is damaged: {error}") from error
    return memoryview(unpacked)


def _check_stated_size(size: int, limit: int = MAX_UNPACKED) -> None:
    if size > min(limit, MAX_UNPACKED):
        raise FormatError(f"a chunk states an impossible size of {counted(size, 'byte')}")


def _checked(data: memoryview, size: int) -> memoryview:
    if len(data) != size:
        raise FormatError(f"a chunk does not have the stated {counted(size, 'byte')}")
    return data


#: Functions by compression name: (compressed data, stated size) -> data.
UNPACKERS: dict[str, Callable[[memoryview, int], memoryview]] = {
    "none": _checked,
    "": _checked,
    "bz2": _unpack_bz2,
    "lz4": _unpack_lz4,
    "zstd": _unpack_zstd,
}
