"""Read plain files, gzip files and members of zip archives in blocks; create zip members."""

import io
import zipfile
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, cast

from evcrisp.core.errors import FormatError
from evcrisp.io.compression import Expansion
from evcrisp.io.protocol import PACKET_EVENTS, located

BLOCK_BYTES = 1 << 22
_MEMBER_BLOCK_BYTES = 1 << 16
_COPY_BYTES = 1 << 18  # stays in the cache of a core
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"

#: Exceptions of zipfile for a damaged or encrypted member, and for damaged archives.
_MEMBER_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
ZIP_ERRORS: tuple[type[Exception], ...] = (*_MEMBER_ERRORS, ValueError, OSError)

#: Date of every member, so that the same events give the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def read_records(path: Path, start: int, record_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield (byte, data) of whole records, up to `PACKET_EVENTS` at a time; raise at a cut one."""
    with path.open("rb") as file:
        offset = file.seek(start)
        while data := file.read(record_bytes * PACKET_EVENTS):
            n_over = len(data) % record_bytes
            if len(data) > n_over:
                yield offset, data[: len(data) - n_over] if n_over else data
            offset += len(data) - n_over
            if n_over:
                raise FormatError("the file ends within an event", offset=offset)


def file_blocks(path: Path) -> Generator[bytes, None, None]:
    """Yield a file in blocks, decompressed if it is gzip; raise after the blocks before damage."""
    with path.open("rb") as file:
        block = file.read(BLOCK_BYTES)
        if block.startswith(GZIP_MAGIC):
            yield from _unzipped(block, iter(lambda: file.read(BLOCK_BYTES), b""))
            return
        while block:
            yield block
            block = file.read(BLOCK_BYTES)


def member_blocks(path: Path, name: str) -> Generator[bytes, None, None]:
    """Yield the content of a zip member in blocks of bounded size; errors as `file_blocks`."""
    n_before, expansion = 0, Expansion()
    with zipfile.ZipFile(path) as archive:
        try:
            expansion.add(archive.getinfo(name).compress_size, 0)
            with cast("zipfile.ZipExtFile", archive.open(name)) as file:
                # At damage zipfile drops the data gathered by the call: hence read1, and little.
                while block := file.read1(_MEMBER_BLOCK_BYTES):
                    with located(n_before):
                        expansion.add(0, len(block))
                    yield block
                    n_before += len(block)
        except _MEMBER_ERRORS as e:
            reason = f"member {name!r} is damaged: {str(e) or 'it ends early'}"
            raise FormatError(reason.rstrip("."), offset=n_before) from e


def copy_bytes(source: IO[bytes], target: IO[bytes], start: int, end: int) -> None:
    """Append a range of bytes of a file to another one; raise if it is shorter."""
    source.seek(start)
    block = memoryview(bytearray(min(_COPY_BYTES, end - start)))
    while start < end:
        n = cast(io.BufferedIOBase, source).readinto(block[: end - start])
        if not n:
            raise FormatError("the file is shorter than it states", offset=start)
        target.write(block[:n])
        start += n


def first_bytes(blocks: Iterator[bytes], n: int) -> bytes:
    """Return the first ``n`` bytes, or fewer if the content ends or is damaged before that."""
    head = b""
    try:
        while len(head) < n and (block := next(blocks, b"")):
            head += block[: n - len(head)]
    except FormatError:
        pass  # a later read reports the damage
    return head


def uncompressed(head: bytes) -> bytes:
    """Return the start of a file's content, given the start of the file."""
    return first_bytes(_unzipped(head, iter(())), 4096) if head.startswith(GZIP_MAGIC) else head


def _unzipped(data: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Decompress one or several gzip streams in a row."""
    n_before, expansion = 0, Expansion()
    while data.startswith(GZIP_MAGIC):
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            before = stream.copy()
            try:
                # The limit keeps a small file from becoming a large block.
                block = stream.decompress(data, BLOCK_BYTES)
            except zlib.error as error:
                yield before_damage(before, data, BLOCK_BYTES)
                reason = f"the gzip stream is damaged: {error}"
                raise FormatError(reason, offset=n_before) from error
            n_packed = len(data) - len(stream.unconsumed_tail) - len(stream.unused_data)
            with located(n_before):
                expansion.add(n_packed, len(block))
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
        raise FormatError("other data follows the gzip stream", offset=n_before)


def before_damage(stream: "zlib._Decompress", data: bytes, n_most: int) -> bytes:
    """Return the output before the damage of a call that failed; zlib drops all of it.

    ``stream`` is a copy of the stream from before the call, with its arguments.
    """
    output = bytearray()
    step = n_most
    while step:
        before = stream.copy()
        try:
            part = stream.decompress(data, step)
        except zlib.error:
            stream, step = before, step // 2
            continue
        output += part
        data = stream.unconsumed_tail
        if not part:
            break
    return bytes(output)


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open a zip archive for reading; report a missing end, which zipfile calls "no zip file"."""
    with path.open("rb") as file:
        has_start = file.read(4) == ZIP_MAGIC
    if has_start and not zipfile.is_zipfile(path):
        raise FormatError("the archive is cut short; copy it again (its directory is missing)")
    return zipfile.ZipFile(path)


def has_member(head: bytes, path: Path, ending: str, n_head: int) -> bool:
    """Return whether a zip archive has a member with an ending; if damaged, ``head`` decides."""
    if not head.startswith(ZIP_MAGIC):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(f"/{name}".endswith(ending) for name in archive.namelist())
    except ZIP_ERRORS:
        return ending.lstrip("/").encode() in head[:n_head]


def stored_member(name: str) -> zipfile.ZipInfo:
    """Return the facts of a member without compression, as those of `create_member`."""
    info = zipfile.ZipInfo(name, _EPOCH)
    info.external_attr = 0o600 << 16  # permissions that zipfile gives
    return info


def create_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Start a member of any size, with the compression of the archive."""
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = archive.compression
    # open() takes the level from here only; it has a public name since Python 3.13.
    setattr(info, "_compresslevel", archive.compresslevel)  # noqa: B010
    return archive.open(info, "w", force_zip64=True)
