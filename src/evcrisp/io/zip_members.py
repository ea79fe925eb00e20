"""What the formats in zip archives share: members that always have the same bytes, and the errors."""

import zipfile
import zlib
from pathlib import Path
from typing import IO

from evcrisp.core.errors import FormatError

#: What zipfile raises for damaged archives.
ZIP_ERRORS: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,  # an encrypted member
    ValueError,
    OSError,
)

#: Every member carries this date, so that the same events give the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open an archive to read.

    Raises
    ------
    FormatError
        If it begins like one, but its end is missing: zipfile would say that it is none.
    """
    with path.open("rb") as file:
        is_begun = file.read(4) == b"PK\x03\x04"
    if is_begun and not zipfile.is_zipfile(path):
        raise FormatError(
            "the archive is cut short, so copy it again: its directory, which stands at the end, is "
            "missing"
        )
    return zipfile.ZipFile(path)


def create_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Start a member of any size, compressed as the archive says."""
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = archive.compression
    # open() takes the level from here only; it has a public name since Python 3.13.
    setattr(info, "_compresslevel", archive.compresslevel)  # noqa: B010
    return archive.open(info, "w", force_zip64=True)
