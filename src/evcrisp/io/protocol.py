"""Protocols of file formats: readers, writers, and the objects that they return.

A reader decodes one format. It opens a file as a :class:`Source`, which yields :class:`Packet`
objects in file order and raises :class:`~evcrisp.FormatError` at damage. ``recording.py`` does the
work that all formats share: checks of range and order, chunks, `on_error`, messages.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.core.types import Bools

#: Usual number of events in a packet; four times as many is the upper limit.
PACKET_EVENTS = 1 << 18

#: Sensor sizes (width, height) of one maker, px; smallest first.
DVS_SIZES = ((128, 128), (240, 180), (346, 260), (640, 480))
PROPHESEE_SIZES = ((320, 320), (640, 480), (1280, 720))
ATIS_SIZES = ((304, 240), (640, 480), (1280, 720))
ALL_SIZES = (
    (128, 128),  # DVS128
    (240, 180),  # DAVIS240
    (304, 240),  # ATIS
    (320, 240),  # DVXplorer Lite
    (346, 260),  # DAVIS346
    (320, 320),  # GenX320
    (640, 480),  # DVXplorer, Gen3
    (1280, 720),  # Gen4, IMX636
    (1280, 800),  # Samsung Gen4
)


class Columns(NamedTuple):
    """Events as contiguous arrays of one length, in file order."""

    x: NDArray[np.uint16]
    y: NDArray[np.uint16]
    t: NDArray[np.int64]  # us
    p: Bools

    @classmethod
    def empty(cls, n: int) -> "Columns":
        """Allocate columns for ``n`` events."""
        x, y = np.empty(n, np.uint16), np.empty(n, np.uint16)
        return cls(x, y, np.empty(n, np.int64), np.empty(n, np.bool_))

    def part(self, part: slice) -> "Columns":
        """Return a range of the events, as views."""
        return Columns(self.x[part], self.y[part], self.t[part], self.p[part])

    def parts(self, n: int) -> Iterator["Columns"]:
        """Yield the events as views of at most ``n``."""
        return (self.part(part) for part in slices(self.t.size, n))


def slices(n_total: int, n: int) -> Iterator[slice]:
    """Yield the parts of a sequence, of at most ``n`` elements each."""
    return (slice(first, first + n) for first in range(0, n_total, n))


@dataclass(frozen=True, slots=True, eq=False)
class Packet:
    """Columns of one piece of a file: contiguous arrays of one length."""

    x: NDArray[np.uint16]
    y: NDArray[np.uint16]
    t: NDArray[np.int64]  # us
    p: Bools
    offset: int  # byte of the file where the piece starts
    signal: Bools | None = None

    def first(self, n: int) -> "Packet":
        """Return the first ``n`` events, as views."""
        return self.part(slice(n))

    def part(self, part: slice) -> "Packet":
        """Return a range of the events, as views."""
        x, y, t, p = self.x[part], self.y[part], self.t[part], self.p[part]
        return Packet(x, y, t, p, self.offset, None if self.signal is None else self.signal[part])


class SensorData(Protocol):
    """IMU samples, triggers and frames beside events; a `Recording` has these methods."""

    def imu(self) -> Imu | None:
        """Return all IMU samples, or None if there is no such stream."""
        return None

    def triggers(self) -> Triggers | None:
        """Return all triggers, or None if there is no such stream."""
        return None

    def frames(self) -> Iterator[Frame]:
        """Yield the frames one by one."""
        yield from ()


@dataclass(frozen=True, slots=True)
class Stream:
    """One of the streams of a file.

    Attributes
    ----------
    name, kind : str
        Name by which it is chosen; "events", "imu", "triggers", "frames" or a word of the format.
    resolution : (int, int) or None, px
        Size of its sensor, if the file states it.
    n_elements : int or None
        Number of its events, samples or frames, if the file states it.
    aliases : tuple of str
        Other names by which it is chosen.
    """

    name: str
    kind: str = "events"
    resolution: tuple[int, int] | None = None
    n_elements: int | None = None
    aliases: tuple[str, ...] = ()


@dataclass(slots=True)
class Source(SensorData):
    """An open file; formats override methods they have data for. ``packets`` can start again."""

    #: (width, height) stated by the file, or None.
    resolution: tuple[int, int] | None = None
    #: Facts of the header for users; JSON types.
    metadata: Mapping[str, Any] = field(default_factory=dict)
    #: Number of events stated by the header, or None.
    n_events: int | None = None
    path: Path = field(default=Path(), kw_only=True)
    #: Time of IMU samples and frames minus time of events, us, if their clocks differ.
    sensor_clock_offset: int = field(default=0, kw_only=True)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order, in packets of about `PACKET_EVENTS`."""
        yield from ()

    def camera(self) -> Camera | None:
        """Return the calibration of the camera, or None if the recording has none."""
        return None

    def whole(self, resolution: tuple[int, int] | None) -> Packet | None:
        """Return all events, checked for order and range, if that is faster than in packets.

        None if it is not faster, or if a check fails; ``packets`` then finds the damage.
        """
        return None

    def between(self, t_start: int, t_end: int | None) -> "Source":
        """Return a source for ``t_start <= t < t_end``, us, which may skip other data.

        Its events start with at least one before ``t_start``, if the file has any: it proves that
        none inside was skipped. It may deliver more data outside. It shares the open file.
        """
        return self

    def time_of(self, number: int) -> int | None:
        """Return the time of the event with a number, us; None unless the file has an index."""
        return None

    def streams(self) -> list[Stream]:
        """Return the streams that the file declares; the first stream of events is the default."""
        return [Stream("events", "events", self.resolution, self.n_events)]

    def choose(self, stream: str) -> "Source":
        """Return a source of another stream of events, by its name; it shares the open file."""
        return self

    def close(self) -> None:
        """Close the file."""


class Reader(Protocol):
    """A file format that can be read. Subclasses inherit the defaults."""

    name: ClassVar[str]  # "aedat4"
    title: ClassVar[str]  # "AEDAT 4 (iniVation DV)"
    suffixes: ClassVar[tuple[str, ...]]  # (".aedat4",)
    #: Possible first bytes of a file; without any, `recognizes` or the suffix decides.
    magic: ClassVar[tuple[bytes, ...]] = ()
    #: Candidate sizes (width, height) for files that do not state one; smallest first.
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ALL_SIZES
    holds_crops: ClassVar[bool] = False  # whether files may hold crops of a sensor
    #: Exceptions of another library that mean "this file is damaged".
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Return whether the first bytes, or the files of a folder, belong to this format."""
        return head.startswith(self.magic)

    def open(self, path: Path) -> Source:
        """Open a file and read its header."""
        ...


class Sink(Protocol):
    """An open output. ``finish`` is called after the last write, ``abort`` after a failure."""

    def write(self, events: Events) -> None:
        """Append events."""
        ...

    def finish(self) -> None:
        """Complete and close the file."""
        ...

    def abort(self) -> None:
        """Close the file without completing it."""
        ...


@dataclass(slots=True, kw_only=True)
class FileSink:
    """A sink with one open file, which needs no completion."""

    file: IO[bytes]

    def finish(self) -> None:
        """Close the file."""
        self.file.close()

    abort = finish


class SensorDataSink(Sink, Protocol):
    """A sink that also keeps sensor data; it has the methods of what its writer ``keeps``."""

    def write_stamp_offset(self, offset: int) -> None:
        """Take the time of sensor data minus the time of the events, us."""
        ...

    def write_imu(self, imu: Imu) -> None:
        """Append IMU samples."""
        ...

    def write_triggers(self, triggers: Triggers) -> None:
        """Append triggers."""
        ...

    def write_frames(self, frames: Iterator[Frame]) -> None:
        """Append frames."""
        ...


class JoiningSink(Sink, Protocol):
    """A sink that also takes whole files of its writer; see `Writer.joins`."""

    def end_part(self) -> None:
        """Make the bytes of what follows independent of the events before."""
        ...

    def append_part(self, path: Path) -> tuple[int, int] | None:
        """Append the events of a file of the same writer; return its first and last time, us."""
        ...


S = TypeVar("S", bound=Sink)


class Writer(Protocol):
    """A file format that can be written; its options are the fields of a frozen dataclass."""

    name: ClassVar[str]
    title: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    keeps_signal: ClassVar[bool] = False  # whether labels are written
    #: Sensor data that is written: some of "imu", "triggers", "frames", "stamp_offset".
    keeps: ClassVar[tuple[str, ...]] = ()
    #: Whether sensor data is given before the first event, not after the last one. The sink must
    #: then use the frames while the events come.
    data_first: ClassVar[bool] = False
    #: Whether sensor data can be written between events, in parts.
    interleaves: ClassVar[bool] = False
    #: Whether files can be joined without decoding them: the sink is a `JoiningSink`.
    joins: ClassVar[bool] = False

    def open(self, path: Path, resolution: tuple[int, int]) -> Sink:
        """Create the file (or folder) at ``path``, which does not exist yet."""
        ...


@contextmanager
def finishing(sink: S) -> Generator[S, None, None]:
    """Yield a sink; finish it after the block, or abort it after an exception."""
    try:
        yield sink
        sink.finish()
    except BaseException:
        with suppress(OSError):  # on a full disk, closing fails as well
            sink.abort()
        raise


class located:  # noqa: N801 - used like a function, and three times faster than one with `yield`
    """Add the byte of a piece of the file to errors about its content."""

    __slots__ = ("offset",)

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FormatError):
            raise FormatError(error.reason, offset=self.offset) from error


@contextmanager
def keeping(partial: Callable[[], object]) -> Generator[None, None, None]:
    """Attach ``partial()``, the data read so far, to a `FormatError` raised in the block."""
    try:
        yield
    except FormatError as error:
        error.partial = partial()
        raise


def check_labels(is_labeled: bool, expected: bool) -> None:
    """Raise if some events of an output have labels and others have none."""
    if is_labeled != expected:
        raise ConfigError("Either all events or none must have labels (`signal`).")
