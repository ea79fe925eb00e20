"""Open, read or summarize a recording of any format."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, cast

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.core.live_area import Box, LiveArea, LiveAreaCounter
from evcrisp.core.validation import as_path, as_resolution
from evcrisp.io.atomic_output import naming
from evcrisp.io.byte_blocks import GZIP_MAGIC
from evcrisp.io.cut import Cut
from evcrisp.io.header_facts import header_facts
from evcrisp.io.pauses import LongestPause
from evcrisp.io.protocol import Reader, Stream
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
    if path.is_dir():
        reason = "it is a folder, but no ROS 2 bag, numpy columns or ECD sequence"
        raise FormatError(reason, path=path, remedy="Name a recording in it.")
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
    stream: str | int | None = None,
    start_us: int = 0,
    duration_us: int | None = None,
    roi: Sequence[int] | None = None,
) -> Recording:
    """Open a recording for streaming; available as ``evcrisp.open``.

    Returns a context manager: ``chunks, read, resolution, imu, triggers, frames``; see `Recording`.

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
    stream : str or int, optional
        Which of several streams of events: a name of ``Recording.streams``, such as a number of
        AEDAT4, a topic of a ROS bag, or "left" and "right" of MVSEC and M3ED. Default: the first,
        with a message that names the others.
    start_us, duration_us : int, us
        Time to read, for events, IMU samples, triggers and frames. ``start_us`` counts from the
        first event of the recording. Default: to the end.
    roi : (int, int, int, int), px, optional
        ``(x, y, width, height)``: read this region, and move it to (0, 0). It becomes the sensor;
        a camera must be shifted too, see :meth:`Camera.cropped`.
    """
    if path == "":
        raise FileNotFoundError("The name of the recording is empty.")
    path = as_path("path", path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    if not (path.is_file() or path.is_dir()):
        reason = "a pipe or a device is not read, because reading takes two passes"
        raise FormatError(f"{reason}; save it to a file", path=path)
    reader = detect(path) if format is None else as_reader(format)
    size = None if resolution is None else as_resolution(resolution)
    # The cut checks the region.
    cut = Cut(start_us=start_us, duration_us=duration_us, roi=cast("Box | None", roi))
    return Recording(path, reader, resolution=size, on_error=on_error, stream=stream, cut=cut)


def read(
    path: str | PathLike[str],
    *,
    format: str | Reader | None = None,
    resolution: Sequence[int] | None = None,
    on_error: OnError = "raise",
    stream: str | int | None = None,
    start_us: int = 0,
    duration_us: int | None = None,
    roi: Sequence[int] | None = None,
) -> Events:
    """Read all events of a recording; parameters as for :func:`open_recording`.

    >>> import tempfile, pathlib
    >>> events = Events(x=[3, 4], y=[1, 1], t=[0, 10], p=[1, 0], resolution=(8, 4))
    >>> from evcrisp.io import write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "two.npz"
    ...     _ = write(path, events)
    ...     read(path)
    ...     read(path, start_us=5, roi=(2, 0, 4, 3))    # times count from the first event
    Events(n=2, resolution=8x4, t=0..10 us, on=1)
    Events(n=1, resolution=4x3, t=10..10 us, on=0)
    """
    with open_recording(
        path,
        format=format,
        resolution=resolution,
        on_error=on_error,
        stream=stream,
        start_us=start_us,
        duration_us=duration_us,
        roi=roi,
    ) as recording:
        return recording.read()


@contextmanager
def opened(source: str | PathLike[str] | Recording) -> Generator[Recording, None, None]:
    """Yield a recording: a file, opened for the block, or one that is open and stays open."""
    if isinstance(source, Recording):
        yield source
    else:
        with open_recording(source) as recording:
            yield recording


def summarize(
    recording: Recording, on_chunk: Callable[[Events], None] | None = None
) -> dict[str, Any]:
    """Read a recording once, in bounded memory, and return its facts as JSON types.

    Times are None without events, `n_signal` without labels. ``on_chunk`` gets each chunk.
    """
    n_events = n_on = n_signal = 0
    is_labeled, counter, pauses = False, LiveAreaCounter(), LongestPause()
    t_first: int | None = None
    t_last: int | None = None
    for chunk in recording.chunks():
        if len(chunk):
            t_first = int(chunk.t[0]) if t_first is None else t_first
            t_last = int(chunk.t[-1])
        counter.add(chunk)
        pauses.add(chunk)
        n_events += len(chunk)
        n_on += chunk.n_on
        if chunk.signal is not None:
            is_labeled = True
            n_signal += int(chunk.signal.sum())
        if on_chunk is not None:
            on_chunk(chunk)
    duration_s = 0.0 if t_first is None or t_last is None else (t_last - t_first) / 1e6
    imu, triggers = recording.imu(), recording.triggers()
    n_frames = sum(1 for _ in recording.frames())
    width, height = recording.resolution
    damage = recording.damage
    return {
        "path": str(recording.path),
        "format": recording.format,
        **header_facts(recording.metadata, t_first, t_last),
        "width": width,
        "height": height,
        "resolution_source": recording.resolution_source,
        "stream": recording.stream,
        "streams": [stream_facts(stream) for stream in recording.streams],
        "cut": recording.cut.facts(),
        "live_area": live_area_facts(counter.area()) if n_events else None,
        "n_events": n_events,
        "t_first_us": t_first,
        "t_last_us": t_last,
        "duration_s": duration_s,
        "longest_pause_us": pauses.duration_us,
        "longest_pause_start_us": pauses.t_start,
        "n_on": n_on,
        "n_off": n_events - n_on,
        "n_signal": n_signal if is_labeled else None,
        "rate_hz": n_events / duration_s if duration_s else 0.0,
        "imu_samples": 0 if imu is None else len(imu),
        "triggers": 0 if triggers is None else len(triggers),
        "frames": n_frames,
        "damage": None if damage is None else damage.kept(),
        "metadata": recording.metadata,
    }


def stream_facts(stream: Stream) -> dict[str, Any]:
    """Return a stream as JSON types."""
    facts = {"name": stream.name, "kind": stream.kind, "aliases": list(stream.aliases)}
    size = None if stream.resolution is None else list(stream.resolution)
    return {**facts, "resolution": size, "n_elements": stream.n_elements}


def live_area_facts(area: LiveArea) -> dict[str, Any]:
    """Return where events occur as JSON types; `advice` is None if nearly all of the sensor is live."""
    return {
        **dict(zip(("x", "y", "width", "height"), area.box, strict=True)),
        "empty_share": round(area.empty_share, 4),
        "advice": area.advice() if area.is_small else None,
    }


#: The public name, as in other imaging libraries: ``evcrisp.open``.
open = open_recording
