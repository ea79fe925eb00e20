"""Blocks of bytes from a plain file, a gzip file or a member of a zip archive."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from evcrisp.core.errors import FormatError

BLOCK_BYTES = 1 << 22
_MEMBER_BLOCK_BYTES = 1 << 16
GZIP_MAGIC = b"\x1f\x8b"


def file_blocks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in blocks of bounded size, decompressed if it is gzip.

    Raises
    ------
    FormatError
        Where a compressed file is damaged or cut short, after everything before was yielded.
    """
    with path.open("rb") as file:
        block = file.read(BLOCK_BYTES)
        if block.startswith(GZIP_MAGIC):
            yield from _unzipped(block, iter(lambda: file.read(BLOCK_BYTES), b""))
            return
        while block:
            yield block
            block = file.read(BLOCK_BYTES)


def member_blocks(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield the content of a zip member in blocks of bounded size; errors as `file_blocks`."""
    n_before = 0
    try:
        with cast("zipfile.ZipExtFile", archive.open(name)) as file:
            # At damage zipfile keeps back what the call had gathered: hence read1, and little.
            while block := file.read1(_MEMBER_BLOCK_BYTES):
                yield block
                n_before += len(block)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        reason = f"member {name!r} is damaged: {str(error) or 'it ends early'}"
        raise FormatError(reason.rstrip("."), offset=n_before) from error


def first_bytes(blocks: Iterator[bytes], n: int) -> bytes:
    """Return the first ``n`` bytes, or fewer where the content ends or is damaged before that."""
    head = b""
    try:
        while len(head) < n and (block := next(blocks, b"")):
            head += block[: n - len(head)]
    except FormatError:
        pass  # whoever reads on meets the damage again
    return head


def uncompressed(head: bytes) -> bytes:
    """Return the start of a file's content, given the start of the file."""
    return first_bytes(_unzipped(head, iter(())), 4096) if head.startswith(GZIP_MAGIC) else head


def _unzipped(data: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what one or several gzip streams in a row hold."""
    n_before = 0
    while data.startswith(GZIP_MAGIC):
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            try:
                # The limit keeps a small file from becoming a large block.
                block = stream.decompress(data, BLOCK_BYTES)
            except zlib.error as error:
                raise FormatError(
                    f"the gzip stream is damaged: {error}", offset=n_before
                ) from error
            if block:
                yield block
                n_before += len(block)
            data = stream.unconsumed_tail
            if not data and not block and not stream.eof:
                data = next(blocks, b"")
                if not data:
                    raise FormatError("the gzip stream is cut short", offset=n_before)
        data = stream.unused_data or next(blocks, b"")
        if len(data) == 1:
            data += next(blocks, b"")
    if data.strip(b"\0"):
        raise FormatError("something else follows the gzip stream", offset=n_before)
