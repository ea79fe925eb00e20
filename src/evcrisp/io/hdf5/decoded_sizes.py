"""Sizes that compressed chunks of HDF5 state for their content; HDF5 does not compare them with the chunk."""

import bz2
import struct
from collections.abc import Callable, Sequence
from importlib.util import find_spec

SZIP, BZIP2, LZ4, BITSHUFFLE, ZSTD = 4, 307, 32004, 32008, 32015
_BLOSC_HEADER = struct.Struct("<4B3I")
BLOSC_BYTES = _BLOSC_HEADER.size
#: Place of the compression among the settings of bitshuffle; 0 is none, which has no header.
_BITSHUFFLE_COMPRESSION = 4


def of_blosc(head: bytes, n_stored: int) -> int:
    """Return the size of the content; 0 for a header that contradicts the stored size."""
    if len(head) < BLOSC_BYTES:
        return 0
    *_, n_decoded, _, n_encoded = _BLOSC_HEADER.unpack_from(head)
    return int(n_decoded) if n_encoded == n_stored else 0


def of_bzip2(data: bytes, n_expected: int) -> int:
    """Return the size of the content, at most one more than expected; 0 if it is damaged."""
    stream = bz2.BZ2Decompressor()
    try:
        plain = stream.decompress(data, n_expected + 1)
    except (OSError, ValueError):
        return 0
    return len(plain)


def of_others(code: int, settings: Sequence[int], head: Callable[[int], bytes]) -> int | None:
    """Return the size that a chunk states; None if the filter states none. ``head(n)``: first bytes."""
    if code == SZIP:
        return int.from_bytes(head(4), "little")
    has_header = code == BITSHUFFLE and any(settings[_BITSHUFFLE_COMPRESSION:][:1])
    if code == LZ4 or has_header:
        return int.from_bytes(head(8), "big")
    return None


def of_zstd(data: bytes, n_expected: int) -> int | None:
    """Return the size of the content, decompressed; 0 if it is damaged, None without zstandard.

    The filter of HDF5 takes an error for a size, and gives memory that was never written.
    """
    if not checks_zstd():
        return None
    import zstandard

    try:
        stream = zstandard.ZstdDecompressor().decompressobj()
        plain = stream.decompress(data) if zstandard.frame_content_size(data) == n_expected else b""
    except zstandard.ZstdError:
        return 0
    return len(plain)


def checks_zstd() -> bool:
    """Return whether damage of chunks with Zstandard is noticed: if zstandard is installed."""
    return find_spec("zstandard") is not None
