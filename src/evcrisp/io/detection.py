"""Find out which format a file has: by content first, by suffix second."""

from pathlib import Path

from evcrisp.core.errors import FormatError
from evcrisp.io.atomic_output import naming
from evcrisp.io.byte_blocks import GZIP_MAGIC
from evcrisp.io.protocol import Reader
from evcrisp.io.registry import READERS

HEAD_BYTES = 4096


def detect(path: Path) -> Reader:
    """Return the reader for a file or folder.

    Raises
    ------
    FileNotFoundError
        If there is nothing at ``path``.
    FormatError
        If no reader recognizes the content and none claims the suffix.
    """
    head = b""
    if not path.is_dir():
        with naming(path), path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        if not head:
            raise FormatError("the file is empty", path=path)
    for reader in READERS.values():
        if reader.recognizes(head, path):
            return reader
    name = path.name.lower()
    for reader in READERS.values():
        if name.endswith(reader.suffixes) and not path.is_dir():
            return reader
    if head.startswith(GZIP_MAGIC):
        raise FormatError(
            "the file is packed with gzip, which is read for text only; unpack it first, such as with "
            f"`gunzip -k {path.name}`",
            path=path,
        )
    raise FormatError(
        f"no format recognizes the content, nor the suffix; known: {', '.join(READERS)}", path=path
    )
