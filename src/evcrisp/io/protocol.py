"""What a file format must offer to be read or written.

A reader knows one format; opening a file with it gives a :class:`Source`, which yields raw
:class:`Packet` objects in file order and raises :class:`~evcrisp.core.errors.FormatError` where the file is
damaged. Everything that all formats share (checks of range and order, chunks of one size,
`on_error`, messages) is done once, in ``recording.py``.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Frame, Imu, Triggers

#: Aim for packets of about this many events, and never yield one of more than four times that.
PACKET_EVENTS = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Packet:
    """Raw columns of one piece of a file. Contiguous arrays of one length."""

    x: NDArray[np.uint16]
    y: NDArray[np.uint16]
    t: NDArray[np.int64]  # us
    p: NDArray[np.bool_]
    offset: int  # byte of the file where the piece starts
    signal: NDArray[np.bool_] | None = None


@dataclass(slots=True)
class Source:
    """An open file. Formats subclass it and override what they have.

    ``packets`` may be called again and then starts from the beginning.
    """

    #: (width, height) as the file says, or None.
    resolution: tuple[int, int] | None = None
    #: Facts of the header that a user may want to see; JSON types.
    metadata: Mapping[str, Any] = field(default_factory=dict)
    #: Number of events where the header tells it cheaply, or None.
    n_events: int | None = None

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order, each packet bounded by `PACKET_EVENTS`."""
        yield from ()

    def whole(self, resolution: tuple[int, int] | None) -> Packet | None:
        """Return all events, checked for order and range, where that is faster than in packets.

        None says that it is not, or that anything looks wrong: the packets will tell what.
        """
        return None

    def imu(self) -> Imu | None:
        """Return all IMU samples, or None if the file has no such stream."""
        return None

    def triggers(self) -> Triggers | None:
        """Return all triggers, or None if the file has no such stream."""
        return None

    def frames(self) -> Iterator[Frame]:
        """Yield the frames one by one."""
        yield from ()

    def close(self) -> None:
        """Release the file."""


class Reader(Protocol):
    """One file format that can be read."""

    name: ClassVar[str]  # "aedat4"
    title: ClassVar[str]  # "AEDAT 4 (iniVation DV)"
    suffixes: ClassVar[tuple[str, ...]]  # (".aedat4",)
    #: Sizes (width, height) to choose from when the file does not say; smallest first.
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]]
    #: Exceptions of the underlying library that mean "this file is damaged".
    foreign_errors: ClassVar[tuple[type[Exception], ...]]

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Say whether the first bytes (or the content of the folder) are of this format."""
        ...

    def open(self, path: Path) -> Source:
        """Open a file, reading no more than its header."""
        ...


class Extras(Protocol):
    """What may come beside events; a recording has it."""

    def imu(self) -> Imu | None:
        """Return all IMU samples, or None if there is no such stream."""
        ...

    def triggers(self) -> Triggers | None:
        """Return all triggers, or None if there is no such stream."""
        ...

    def frames(self) -> Iterator[Frame]:
        """Yield the frames one by one."""
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


@runtime_checkable
class ExtrasSink(Sink, Protocol):
    """A sink that also keeps what comes beside the events; called before ``finish``."""

    def write_imu(self, imu: Imu) -> None:
        """Append IMU samples."""
        ...

    def write_triggers(self, triggers: Triggers) -> None:
        """Append triggers."""
        ...

    def write_frames(self, frames: Iterator[Frame]) -> None:
        """Append frames."""
        ...


class Writer(Protocol):
    """One file format that can be written; options are fields of the frozen dataclass."""

    name: ClassVar[str]
    title: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    keeps_signal: ClassVar[bool]  # whether labels are written
    keeps_extras: ClassVar[bool]  # whether its sinks are `ExtrasSink`

    def open(self, path: Path, resolution: tuple[int, int]) -> Sink:
        """Create the file (or folder) at ``path``, which does not exist yet."""
        ...


class Closing:
    """Context manager that finishes a sink, or aborts it when an exception passes."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink

    def __enter__(self) -> Sink:
        return self.sink

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._abort()
            return
        try:
            self.sink.finish()
        except BaseException:
            self._abort()
            raise

    def _abort(self) -> None:
        # A disk that is full refuses what was still buffered; the first complaint is what counts.
        with suppress(OSError):
            self.sink.abort()
