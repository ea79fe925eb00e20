"""Open or read a recording of any format."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.core.validation import as_resolution
from evcrisp.io.atomic_output import naming
from evcrisp.io.byte_blocks import GZIP_MAGIC
from evcrisp.io.protocol import Reader
from evcrisp.io.recording import OnError, Recording
from evcrisp.io.registry import READERS, as_reader, detection_order


def detect(path: Path) -> Reader:
    """Return the reader of a file or folder, by its content first, then by its suffix."""
    head = b""
    if not path.is_dir():
        with naming(path), path.open("rb") as file:
            head = file.read(4096)
        if not head:
            raise FormatError("the file is empty", path=path)
    readers = detection_order()
    for reader in readers:
        if reader.recognizes(head, path):
            return reader
    for reader in readers:
        if path.name.lower().endswith(reader.suffixes) and not path.is_dir():
            return reader
    reason = f"no format recognizes the content or the suffix; known: {', '.join(READERS)}"
    if head.startswith(GZIP_MAGIC):
        remedy = f"unpack it first, such as with `gunzip -k {path.name}`"
        reason = f"only text is read from gzip files; {remedy}"
    raise FormatError(reason, path=path)


def open_recording(
    path: str | PathLike[str],
    *,
    format: str | Reader | None = None,
    resolution: Sequence[int] | None = None,
    on_error: OnError = "raise",
) -> Recording:
    """Open a recording for streaming; available as ``evcrisp.open``.

    Parameters
    ----------
    path : path
        A file, or a folder for formats that are folders (ROS 2 bags, numpy columns).
    format : str or Reader, optional
        Name of the format, or a reader. By default the content decides, then the suffix.
    resolution : (int, int), optional
        ``(width, height)`` of the sensor, px; overrides the size stated by the file.
    on_error : {"raise", "truncate"}
        At damage, deliver all events before it, then raise :class:`~evcrisp.FormatError`; or end
        there and keep the error in ``Recording.damage``.

    Returns
    -------
    Recording
        A context manager with ``chunks()``, ``read()``, ``resolution``, ``imu()``, ``triggers()``
        and ``frames()``.
    """
    if not os.fspath(path):
        raise FileNotFoundError("The name of the recording is empty.")
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    if not (path.is_file() or path.is_dir()):
        reason = "a pipe or a device is not read, because reading takes two passes"
        raise FormatError(f"{reason}; save it to a file", path=path)
    reader = detect(path) if format is None else as_reader(format)
    size = None if resolution is None else as_resolution(resolution)
    return Recording(path, reader, resolution=size, on_error=on_error)


def read(
    path: str | PathLike[str],
    *,
    format: str | Reader | None = None,
    resolution: Sequence[int] | None = None,
    on_error: OnError = "raise",
) -> Events:
    """Read all events of a recording; parameters as for :func:`open_recording`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> events = Events(x=[3, 4], y=[1, 1], t=[0, 10], p=[1, 0], resolution=(8, 4))
    >>> from evcrisp.io import write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "two.npz"
    ...     _ = write(path, events)
    ...     read(path)
    Events(n=2, resolution=8x4, t=0..10 us, on=1)
    """
    with open_recording(path, format=format, resolution=resolution, on_error=on_error) as recording:
        return recording.read()


@contextmanager
def opened(source: str | PathLike[str] | Recording) -> Generator[Recording, None, None]:
    """Yield a recording: a file, opened for the block, or one that is open and stays open."""
    if isinstance(source, Recording):
        yield source
    else:
        with open_recording(source) as recording:
            yield recording


#: The public name, as in other imaging libraries: ``evcrisp.open``.
open = open_recording
