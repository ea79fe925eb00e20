"""Check stored chunks before HDF5 decodes them, and decode those of gzip.

HDF5 does not compare the size of a decoded chunk with that of the dataset: the rest of a short one is
memory that was never written. A bit in the index of chunks also makes it skip a filter.
"""

import itertools
import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError

GZIP, SHUFFLE, FLETCHER32, BLOSC = 1, 2, 3, 32001
#: Flag of a filter that a writer may leave out.
_OPTIONAL = 1
#: Filters that `decode_gzip` reads.
GZIP_FILTERS = ([GZIP], [SHUFFLE, GZIP])
#: Filters whose decoders read beyond damaged input: other values at each read, without an error.
_UNSAFE = {32017: "SZ", 32024: "SZ3"}
_BLOSC_HEADER = struct.Struct("<4B3I")


def filters_of(dataset: Any) -> list[int]:
    """Return the codes of the filters of a dataset, in the order of writing."""
    settings = dataset.id.get_create_plist()
    return [settings.get_filter(index)[0] for index in range(settings.get_nfilters())]


def unsafe_filters(dataset: Any) -> list[str]:
    """Return the names of the filters of a dataset that do not notice damage."""
    return [_UNSAFE[code] for code in filters_of(dataset) if code in _UNSAFE]


def chunk_bytes(dataset: Any) -> int:
    """Return the size of a decoded chunk."""
    return int(dataset.dtype.itemsize * math.prod(dataset.chunks))


def corners(dataset: Any, number: int) -> Iterator[tuple[int, ...]]:
    """Yield the first elements of the chunks with the rows of chunk ``number``."""
    sides = zip(dataset.shape[1:], dataset.chunks[1:], strict=True)
    axes = [range(0, size, step) for size, step in sides]
    return itertools.product((number * dataset.chunks[0],), *axes)


def check_chunk(dataset: Any, name: str, corner: tuple[int, ...], filters: list[int]) -> None:
    """Raise if HDF5 would not decode a whole chunk from the file."""
    info = dataset.id.get_chunk_info_by_coord(corner)
    offset, expected = int(info.byte_offset or 0), chunk_bytes(dataset)
    if info.byte_offset is None:
        raise FormatError(f"a chunk of {name!r} is missing")
    if info.filter_mask:
        if not may_skip(dataset, filters, info.filter_mask, info.size):
            raise FormatError(f"a chunk of {name!r} is stored without its filters", offset=offset)
        return
    found = info.size if not filters else _decoded_bytes(dataset, corner, filters)
    if found not in (None, expected):
        reason = f"a chunk of {name!r} has {found} bytes; expected {expected}"
        raise FormatError(reason, offset=offset)


def may_skip(dataset: Any, filters: list[int], mask: int, n_stored: int) -> bool:
    """Return whether a writer may have left out the filters of a mask: they make no chunk smaller.

    Only optional filters are left out. The size tells it from a damaged mask.
    """
    settings = dataset.id.get_create_plist()
    left_out = [index for index in range(len(filters)) if mask >> index & 1]
    applied = [code for index, code in enumerate(filters) if index not in left_out]
    if mask >> len(filters) or not set(applied) <= {SHUFFLE, FLETCHER32}:
        return False
    are_optional = all(settings.get_filter(index)[1] & _OPTIONAL for index in left_out)
    n_checksums = 4 * applied.count(FLETCHER32)
    return are_optional and n_stored == chunk_bytes(dataset) + n_checksums


def _decoded_bytes(dataset: Any, corner: tuple[int, ...], filters: list[int]) -> int | None:
    """Return the size that a chunk states for its decoded bytes; None if it states none."""
    if filters in GZIP_FILTERS:
        data = dataset.id.read_direct_chunk(corner)[1]
        return len(_inflated(data, chunk_bytes(dataset)))
    if filters != [BLOSC]:
        return None
    data = dataset.id.read_direct_chunk(corner)[1]
    if len(data) < _BLOSC_HEADER.size:
        return 0
    *_, n_decoded, _, n_encoded = _BLOSC_HEADER.unpack_from(data)
    return int(n_decoded) if n_encoded == len(data) else 0


def decode_gzip(dataset: Any, name: str, corner: tuple[int], filters: list[int]) -> NDArray[Any]:
    """Return the rows of a chunk; raise if it is damaged."""
    info = dataset.id.get_chunk_info_by_coord(corner)
    if info.byte_offset is None:
        raise FormatError(f"a chunk of {name!r} is missing")
    skipped, data = dataset.id.read_direct_chunk(corner)
    expected = chunk_bytes(dataset)
    if not skipped:
        plain = _inflated(data, expected)
    else:
        plain = data if may_skip(dataset, filters, skipped, len(data)) else b""
    if len(plain) != expected:
        reason = f"a chunk of {name!r} is damaged (gzip)"
        raise FormatError(reason, offset=int(info.byte_offset))
    itemsize = dataset.dtype.itemsize
    is_shuffled = SHUFFLE in filters and not skipped >> filters.index(SHUFFLE) & 1
    if is_shuffled and itemsize > 1:
        planes = np.frombuffer(plain, np.uint8).reshape(itemsize, -1)
        plain = np.ascontiguousarray(planes.T).data
    return np.frombuffer(plain, dataset.dtype)


def _inflated(data: bytes, n_bytes: int) -> bytes:
    """Decompress a whole stream of at most ``n_bytes``; empty if it is damaged."""
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(data, n_bytes + 1)
    except zlib.error:
        return b""
    return plain if stream.eof else b""
