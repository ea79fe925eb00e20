"""Check stored chunks before HDF5 decodes them, and decode those of gzip.

HDF5 does not compare the size of a decoded chunk with that of the dataset: the rest of a short one is
memory that was never written. A bit in the index of chunks also makes it skip a filter.
"""

import itertools
import math
import os
import zlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.hdf5 import decoded_sizes

GZIP, SHUFFLE, FLETCHER32, BLOSC = 1, 2, 3, 32001
#: Flag of a filter that a writer may leave out.
_OPTIONAL = 1
#: Filters that `Chunks.decode_gzip` reads.
GZIP_FILTERS = ([GZIP], [SHUFFLE, GZIP])
#: Filters that do not notice damage: their decoders read beyond it, or give fewer bytes than the chunk has.
#: Events are then other ones at each read, without an error.
_UNSAFE = {32000: "LZF", 32017: "SZ", 32024: "SZ3"}
_UNSAFE_ZSTD = {decoded_sizes.ZSTD: "Zstandard"}


def filters_of(dataset: Any) -> list[int]:
    """Return the codes of the filters of a dataset, in the order of writing."""
    settings = dataset.id.get_create_plist()
    return [settings.get_filter(index)[0] for index in range(settings.get_nfilters())]


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """How the chunks of a dataset are stored; found once, because h5py takes as long as for a chunk."""

    dataset: Any  # h5py.Dataset
    name: str
    shape: tuple[int, ...]  # of a chunk
    filters: list[int]  # codes, in the order of writing
    n_bytes: int  # of a decoded chunk
    descriptor: int | None  # of the file, if bytes at a place in it can be read

    @classmethod
    def of(cls, dataset: Any, name: str) -> "Chunks | None":
        """Return the chunks of a dataset; None if it is stored in one piece."""
        shape = dataset.chunks
        if shape is None:
            return None
        n_bytes = int(dataset.dtype.itemsize * math.prod(shape))
        return cls(dataset, name, shape, filters_of(dataset), n_bytes, _descriptor(dataset.file))

    def unsafe_filters(self) -> list[str]:
        """Return the names of the filters that do not notice damage."""
        unsafe = _UNSAFE if decoded_sizes.checks_zstd() else _UNSAFE | _UNSAFE_ZSTD
        return [unsafe[code] for code in self.filters if code in unsafe]

    def check(self, number: int) -> None:
        """Raise if HDF5 would not decode whole chunks, with the rows of chunk ``number``, from the file."""
        sides = zip(self.dataset.shape[1:], self.shape[1:], strict=True)
        axes = [range(0, size, step) for size, step in sides]
        for corner in itertools.product((number * self.shape[0],), *axes):
            self._check_chunk(corner)

    def _check_chunk(self, corner: tuple[int, ...]) -> None:
        info = self._info(corner)
        if info.filter_mask:
            if not self._may_skip(info.filter_mask, info.size):
                reason = f"a chunk of {self.name!r} is stored without its filters"
                raise FormatError(reason, offset=info.byte_offset)
            return
        found = info.size if not self.filters else self._decoded_bytes(corner, info)
        if found not in (None, self.n_bytes):
            reason = f"a chunk of {self.name!r} has {found} bytes; expected {self.n_bytes}"
            raise FormatError(reason, offset=info.byte_offset)

    def _info(self, corner: tuple[int, ...]) -> Any:
        """Return place, size and left out filters of a chunk."""
        info = self.dataset.id.get_chunk_info_by_coord(corner)
        if info.byte_offset is None:
            raise FormatError(f"a chunk of {self.name!r} is missing")
        return info

    def _may_skip(self, mask: int, n_stored: int) -> bool:
        """Return whether a writer may have left out the filters of a mask: they make no chunk smaller.

        Only optional filters are left out. The size tells it from a damaged mask.
        """
        settings = self.dataset.id.get_create_plist()
        left_out = [index for index in range(len(self.filters)) if mask >> index & 1]
        applied = [code for index, code in enumerate(self.filters) if index not in left_out]
        if mask >> len(self.filters) or not set(applied) <= {SHUFFLE, FLETCHER32}:
            return False
        are_optional = all(settings.get_filter(index)[1] & _OPTIONAL for index in left_out)
        n_checksums = 4 * applied.count(FLETCHER32)
        return are_optional and n_stored == self.n_bytes + n_checksums

    def _decoded_bytes(self, corner: tuple[int, ...], info: Any) -> int | None:
        """Return the size that a chunk states for its decoded bytes; None if it states none."""
        if self.filters in GZIP_FILTERS:
            data = self.dataset.id.read_direct_chunk(corner)[1]
            return len(_inflated(data, self.n_bytes))
        if not self.filters or not set(self.filters[:-1]) <= {SHUFFLE}:
            return None
        head = partial(self._first_bytes, corner, info)
        if self.filters == [BLOSC]:
            return decoded_sizes.of_blosc(head(decoded_sizes.BLOSC_BYTES), info.size)
        if self.filters[-1] == decoded_sizes.BZIP2:
            return decoded_sizes.of_bzip2(head(info.size), self.n_bytes)
        if self.filters[-1] == decoded_sizes.ZSTD:
            return decoded_sizes.of_zstd(head(info.size), self.n_bytes)
        index = len(self.filters) - 1
        settings = self.dataset.id.get_create_plist().get_filter(index)[2]
        return decoded_sizes.of_others(self.filters[-1], settings, head)

    def _first_bytes(self, corner: tuple[int, ...], info: Any, n: int) -> bytes:
        """Return the first bytes of a stored chunk, without a copy of all others where possible."""
        if self.descriptor is None:
            return bytes(self.dataset.id.read_direct_chunk(corner)[1][:n])
        return os.pread(self.descriptor, min(n, info.size), info.byte_offset)

    def decode_gzip(self, number: int) -> NDArray[Any]:
        """Return the rows of a chunk of a dataset with one axis; raise if it is damaged."""
        corner = (number * self.shape[0],)
        info = self._info(corner)
        skipped, data = self.dataset.id.read_direct_chunk(corner)
        if not skipped:
            plain = _inflated(data, self.n_bytes)
        else:
            plain = data if self._may_skip(skipped, len(data)) else b""
        if len(plain) != self.n_bytes:
            reason = f"a chunk of {self.name!r} is damaged (gzip)"
            raise FormatError(reason, offset=int(info.byte_offset))
        itemsize = self.dataset.dtype.itemsize
        is_shuffled = SHUFFLE in self.filters and not skipped >> self.filters.index(SHUFFLE) & 1
        if is_shuffled and itemsize > 1:
            planes = np.frombuffer(plain, np.uint8).reshape(itemsize, -1)
            plain = np.ascontiguousarray(planes.T).data
        return np.frombuffer(plain, self.dataset.dtype)


def _descriptor(file: Any) -> int | None:
    """Return the descriptor of a file in which places of chunks are places in the file."""
    if not hasattr(os, "pread") or file.driver != "sec2" or file.userblock_size:
        return None
    return int(file.id.get_vfd_handle())


def _inflated(data: bytes, n_bytes: int) -> bytes:
    """Decompress a whole stream of at most ``n_bytes``; empty if it is damaged."""
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(data, n_bytes + 1)
    except zlib.error:
        return b""
    return plain if stream.eof else b""
