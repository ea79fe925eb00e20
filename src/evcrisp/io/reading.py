"""Open or read a recording of any format."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.core.registry import lookup
from evcrisp.core.validation import as_resolution
from evcrisp.io.detection import detect
from evcrisp.io.recording import OnError, Recording
from evcrisp.io.registry import READERS


def open_recording(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    resolution: Sequence[int] | None = None,
    on_error: OnError = "raise",
) -> Recording:
    """Open a recording for streaming; available as ``evcrisp.open``.

    Parameters
    ----------
    path : path
        A file, or a folder for formats that are folders (ROS 2 bags, numpy columns).
    format : str, optional
        Name of the format. By default it is found from the content, then from the suffix.
    resolution : (int, int), optional
        ``(width, height)`` of the sensor, px; overrides what the file says.
    on_error : {"raise", "truncate"}
        What to do at damage: raise :class:`~evcrisp.FormatError` after everything before it was
        delivered, or end there and keep the error in ``Recording.damage``.

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
        raise FormatError(
            "this is a pipe or a device, which cannot be read twice; save it to a file first",
            path=path,
        )
    reader = detect(path) if format is None else lookup(READERS, format, "format")
    size = None if resolution is None else as_resolution(resolution)
    return Recording(path, reader, resolution=size, on_error=on_error)


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
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
