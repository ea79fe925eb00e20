"""Stream a recording: checks, chunks and damage, for all formats."""

import logging
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError, EvError, FormatError, Setting
from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.core.validation import as_resolution, check_choice, check_number
from evcrisp.io.atomic_output import naming
from evcrisp.io.protocol import ALL_SIZES, Packet, Reader, Source, slices

logger = logging.getLogger(__name__)

T = TypeVar("T")

OnError = Literal["raise", "truncate"]
ResolutionSource = Literal["file", "given", "guessed"]


class Recording:
    """An open recording that streams its events in bounded memory; a context manager.

    :func:`evcrisp.open` makes it.

    Attributes
    ----------
    path, format : Path, str
        The file or folder, and the name of its format.
    damage : FormatError or None
        With ``on_error="truncate"``: the error that ended the last read early.
    """

    def __init__(
        self,
        path: Path,
        reader: Reader,
        *,
        resolution: tuple[int, int] | None = None,
        on_error: OnError = "raise",
    ) -> None:
        check_choice("on_error", on_error, get_args(OnError))
        self.path = path
        self.format = reader.name
        self.damage: FormatError | None = None
        self._reader = reader
        self._on_error = on_error
        self._given = None if resolution is None else as_resolution(resolution)
        self._guessed: tuple[int, int] | None = None
        self._n_bytes = path.stat().st_size if path.is_file() else 0
        self._position = 0  # byte of the packet that was read last
        self._n_read = 0  # events up to its end
        self._live: list[Generator[Packet, None, None]] = []
        self._is_closed = False
        try:
            self._source: Source = reader.open(path)
        except Exception as error:
            raise self._translated(error, 0) from error
        width, height = self._source.resolution or (1, 1)
        if not (0 < width <= 65_536 and 0 < height <= 65_536):
            self._source.close()
            reason = f"the file states an impossible sensor size of {width}x{height} px"
            raise FormatError(reason, path=path)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Recording({str(self.path)!r}, format={self.format!r})"

    def close(self) -> None:
        """Close the file and end all running iterations over it."""
        for packets in tuple(self._live):
            packets.close()
        self._is_closed = True
        self._source.close()

    @property
    def metadata(self) -> dict[str, object]:
        """Facts stated by the file's header."""
        return dict(self._source.metadata)

    @property
    def resolution_source(self) -> ResolutionSource:
        """Origin of :attr:`resolution`: the file, the caller, or the events."""
        if self._given is not None:
            return "given"
        return "guessed" if self._source.resolution is None else "file"

    @property
    def resolution(self) -> tuple[int, int]:
        """``(width, height)``, px.

        If neither the caller nor the file states it, the events are scanned once, and the
        smallest standard sensor size that holds them all is taken. In formats of data sets that hold
        crops of a sensor (DAT of N-CARS), events in less than half of both sides of that size are a
        crop: its size is the extent of the events.
        """
        known = self._given or self._source.resolution or self._guessed
        if known is not None:
            return known
        high_x = high_y = -1
        for packet in self._packets(scanning=True):
            if packet.t.size:
                high_x = max(high_x, int(packet.x.max()))
                high_y = max(high_y, int(packet.y.max()))
        return self._guess(high_x + 1, high_y + 1)

    @property
    def fraction_read(self) -> float | None:
        """Share of the file before the end of the last chunk, 0 to 1; None if unknown."""
        if self._source.n_events:
            return min(self._n_read / self._source.n_events, 1.0) if self._n_read else None
        return self._position / self._n_bytes if self._position and self._n_bytes else None

    def chunks(self, max_events: int = 1 << 20) -> Iterator[Events]:
        """Yield the events in order, in chunks of at most ``max_events``.

        Raises
        ------
        FormatError
            At damage, after all events before it. With ``on_error="truncate"`` the iteration
            ends there, and :attr:`damage` keeps the error.
        """
        check_number("max_events", max_events, 1, whole=True)
        size = self.resolution
        for packet in self._packets():
            for part in slices(packet.t.size, max_events):
                if self._is_closed:
                    return
                yield _events(packet, size, part)

    def read(self) -> Events:
        """Return all events at once."""
        size = self._given or self._source.resolution or self._guessed
        self.damage = None
        packet = self._source.whole(self._given or self._source.resolution)
        if packet is None:
            n_expected = self._source.n_events
            packet = join(self._packets(), n_expected=n_expected, n_bytes=self._n_bytes)
        if size is None:
            is_empty = packet is None or not packet.t.size
            ends = (0, 0) if is_empty else (int(packet.x.max()) + 1, int(packet.y.max()) + 1)
            size = self._guess(*ends)
        return Events.empty(size) if packet is None else _events(packet, size, slice(None))

    def imu(self) -> Imu | None:
        """Return all IMU samples, or None if the file has no such stream."""
        return self._guarded_call("IMU samples", self._source.imu)

    def triggers(self) -> Triggers | None:
        """Return all triggers, or None if the file has no such stream."""
        return self._guarded_call("triggers", self._source.triggers)

    def frames(self) -> Iterator[Frame]:
        """Yield the frames one by one."""
        frames = self._source.frames()
        while True:
            frame = self._guarded_call("frames", lambda: next(frames, None))
            if frame is None:
                return
            yield frame

    def camera(self) -> Camera | None:
        """Return the calibration that lies beside the events, or None; ``calib.txt`` of ECD has one.

        Motions that need a camera use it unless another one is given.
        """
        self._check_open()
        try:
            return self._source.camera()
        except ConfigError as error:
            remedy = Setting("Correct it, or set the calibration", "camera")
            raise ConfigError(f"{self.path}: calib.txt: {error}", remedy=remedy) from error

    def _packets(self, *, scanning: bool = False) -> Iterator[Packet]:
        packets = self._checked_packets(scanning=scanning)
        self._live.append(packets)
        try:
            yield from packets
        finally:
            packets.close()
            self._live = [live for live in self._live if live is not packets]

    def _checked_packets(self, *, scanning: bool) -> Generator[Packet, None, None]:
        """Yield checked packets; handle damage, which a scan leaves to the read after it."""
        self._check_open()
        self.damage = None
        packets = self._source.packets()
        try:
            yield from self._good_packets(packets)
        except FormatError as error:
            self._damaged(error, error, quiet=scanning)
        finally:
            if isinstance(packets, Generator):  # closes its file now, not at garbage collection
                packets.close()

    def _good_packets(self, packets: Iterator[Packet]) -> Iterator[Packet]:
        """Yield the good events of all packets, then raise at the first damage."""
        size = self._given or self._source.resolution
        n_before = 0
        t_last = np.iinfo(np.int64).min
        while True:
            try:
                packet = next(packets, None)
            except Exception as error:
                raise self._translated(error, n_before) from error
            if packet is None:
                return
            n_good, problem = _check(packet, size, t_last)
            t_last = int(packet.t[n_good - 1]) if n_good else t_last
            n_before += n_good
            self._position, self._n_read = min(packet.offset, self._n_bytes), n_before
            yield packet if problem is None else packet.first(n_good)
            if problem is not None:
                problem += f", in the piece of the file that starts at byte {packet.offset}"
                raise FormatError(problem, offset=packet.offset, path=self.path, n_before=n_before)

    def _check_open(self) -> None:
        if self._is_closed:
            raise ConfigError(f"The recording {self.path} is closed. Open it again.")

    def _damaged(self, error: EvError, cause: Exception, *, quiet: bool = False) -> None:
        if not isinstance(error, FormatError):
            raise error from cause
        if quiet:
            return
        if self._on_error == "raise":
            raise error from cause
        self.damage = error
        logger.warning("%s", error.kept())

    def _guarded_call(self, what: str, call: Callable[[], T | None]) -> T | None:
        """Call a reader; in truncate mode, return the data before the damage."""
        self._check_open()
        try:
            return call()
        except Exception as error:
            translated = self._translated(error, 0)
            if isinstance(translated, FormatError):
                translated.beside = what
            known = self.damage
            self._damaged(translated, error, quiet=known is not None)
            self.damage = known or self.damage
            return error.partial if isinstance(error, FormatError) else None

    def _translated(self, error: Exception, n_before: int) -> EvError:
        """Return the exception that users see for an exception of a reader."""
        if isinstance(error, FormatError):
            return error.located(self.path, n_before)
        if isinstance(error, EvError):
            return error
        if isinstance(error, getattr(self._reader, "foreign_errors", ())):
            text = str(error) or type(error).__name__
            title = getattr(self._reader, "title", self.format)
            reason = f"not readable as {title}: {text.rstrip('.')}"
            return FormatError(reason, path=self.path, n_before=n_before)
        with naming(self.path):
            raise error

    def _guess(self, width: int, height: int) -> tuple[int, int]:
        sizes = getattr(self._reader, "standard_sizes", ALL_SIZES)
        fitting = (size for size in sizes if size[0] >= width and size[1] >= height)
        needed = max(width, 1), max(height, 1)
        self._guessed = next(fitting, needed)
        holds_crops = getattr(self._reader, "holds_crops", False)
        if (
            holds_crops
            and width
            and all(2 * side < full for side, full in zip(needed, self._guessed, strict=True))
        ):
            self._guessed = needed
            logger.warning(
                "%s: the file does not state its sensor size; taking %dx%d, the extent of the events: "
                "a crop of a sensor. %s",
                *(self.path, *needed),
                Setting("If this is wrong, set the sensor size", "resolution"),
            )
        elif width:  # without events no size is wrong
            logger.warning(
                "%s: the file does not state its sensor size; taking %dx%d, the smallest standard "
                "size that holds all events (they need %dx%d). %s",
                *(self.path, *self._guessed, width, height),
                Setting("If this is wrong, set the sensor size", "resolution"),
            )
        return self._guessed


def _events(packet: Packet, resolution: tuple[int, int], part: slice) -> Events:
    signal = None if packet.signal is None else packet.signal[part]
    return Events.trusted(
        packet.x[part], packet.y[part], packet.t[part], packet.p[part], resolution, signal
    )


def _check(packet: Packet, size: tuple[int, int] | None, t_last: int) -> tuple[int, str | None]:
    """Return the number of good events of a packet, and the problem of the next one."""
    x, y, t = packet.x, packet.y, packet.t
    n_good, problem = t.size, None
    if t.size == 0:
        return 0, None
    if t[0] < t_last:
        n_good, problem = 0, f"time decreases from {t_last} to {t[0]} us"
    else:
        falls = t[1:] < t[:-1]
        if falls.any():
            n_good = int(np.argmax(falls)) + 1
            problem = f"time decreases from {t[n_good - 1]} to {t[n_good]} us"
    if size is not None and (x.max() >= size[0] or y.max() >= size[1]):
        first = int(np.argmax((x >= size[0]) | (y >= size[1])))
        if first < n_good:
            n_good, where = first, f"x={x[first]}, y={y[first]}"
            problem = f"event at {where} lies outside the sensor of {size[0]}x{size[1]} px"
    return n_good, problem


_DTYPES = {"x": np.uint16, "y": np.uint16, "t": np.int64, "p": np.bool_, "signal": np.bool_}
#: Factor on an estimated number of events, and the share that must be filled to avoid a copy.
_SLACK = 1.05
_FILLED = 0.75


class _Buffer:
    """Columns of a fixed length, filled from the front. Unfilled memory is not touched."""

    def __init__(self, n: int, names: Iterable[str]) -> None:
        self.columns = {name: np.empty(n, _DTYPES[name]) for name in names}
        self.size = n
        self.n = 0

    def add(self, packet: Packet) -> bool:
        """Copy a packet, or return False if it does not fit."""
        n_next = self.n + packet.t.size
        if n_next > self.size:
            return False
        for name, column in self.columns.items():
            column[self.n : n_next] = getattr(packet, name)
        self.n = n_next
        return True

    def packet(self, offset: int) -> Packet:
        columns: dict[str, Any] = {name: column[: self.n] for name, column in self.columns.items()}
        if self.n < _FILLED * self.size:
            columns = {name: column.copy() for name, column in columns.items()}
        return Packet(**columns, offset=offset)


def join(packets: Iterable[Packet], *, n_expected: int | None, n_bytes: int) -> Packet | None:
    """Return all packets as one, or None if there are none. Labels are kept if all have them.

    ``n_expected`` is the number of events stated by the file, else it is estimated from the first
    packet; a wrong number costs time only. ``n_bytes``, the size of the file, limits the allocation.
    Copying each packet while it is in the cache takes half the time of a concatenation at the end.
    """
    packets = iter(packets)
    first, second = next(packets, None), next(packets, None)
    if first is None or second is None:
        return first
    if n_expected is None:
        n_expected = _estimate(first, second, n_bytes)
    is_labeled = first.signal is not None
    buffer = _Buffer(min(n_expected, n_bytes), _DTYPES if is_labeled else tuple(_DTYPES)[:4])
    rest: list[Packet] = []
    for packet in chain((first, second), packets):
        if is_labeled and packet.signal is None:
            is_labeled = False
            del buffer.columns["signal"]
        if rest or not buffer.add(packet):
            rest.append(packet)
    joined = buffer.packet(first.offset)
    if not rest:
        return joined
    parts = [joined, *rest] if buffer.n else rest
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in buffer.columns
    }
    return Packet(**columns, offset=first.offset)


def _estimate(first: Packet, second: Packet, n_bytes: int) -> int:
    """Estimate the number of events from the bytes of the first packet."""
    n_first, n_all = second.offset - first.offset, max(n_bytes - first.offset, 0)
    return int(_SLACK * first.t.size * n_all / n_first) if n_first > 0 else 0
