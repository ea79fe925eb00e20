"""Stream a recording: checks, chunks and damage, for all formats."""

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal, TypeVar, get_args

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError, EvError, FormatError, Setting
from evcrisp.core.event_columns import are_times, normalized
from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.core.validation import as_resolution, check_choice, check_number
from evcrisp.io.atomic_output import naming
from evcrisp.io.cut import (
    Cut,
    CutPass,
    TimeSpan,
    closed_at_end,
    cropped_frame,
    is_proved,
    packets_of_span,
    samples_within,
)
from evcrisp.io.joining import join
from evcrisp.io.protocol import ALL_SIZES, Packet, Reader, Source, Stream, slices
from evcrisp.io.streams import choose_stream

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: Largest side of a sensor that is guessed from events, px; maps of larger ones fill the memory.
_MAX_GUESSED_PX = 4096

OnError = Literal["raise", "truncate"]
ResolutionSource = Literal["file", "given", "guessed"]


class Recording:
    """An open recording that streams its events in bounded memory; a context manager.

    :func:`evcrisp.open` makes it.

    Attributes
    ----------
    path, format : Path, str
        The file or folder, and the name of its format.
    stream : str
        Name of the stream of events that is read; see :attr:`streams`.
    cut : Cut
        The part that is read: ``start_us``, ``duration_us``, ``roi``.
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
        stream: str | int | None = None,
        cut: Cut | None = None,
    ) -> None:
        check_choice("on_error", on_error, get_args(OnError))
        self.path = path
        self.format = reader.name
        self.cut = Cut() if cut is None else cut
        self.damage: FormatError | None = None
        self._reader = reader
        self._on_error = on_error
        self._given = None if resolution is None else as_resolution(resolution)
        self._guessed: tuple[int, int] | None = None
        self._n_bytes = path.stat().st_size if path.is_file() else 0
        self._position = 0  # byte of the packet that was read last
        self._n_read = 0  # events up to its end
        self._pass: CutPass | None = None  # the last one
        self._t_first: int | None = None  # of all events, us
        self._parts: tuple[TimeSpan, Source] | None = None  # of the cut
        self._live: list[Generator[Packet, None, None]] = []
        self._is_closed = False
        try:
            self._source: Source = reader.open(path)
        except Exception as error:
            raise self._translated(error, 0) from error
        try:
            self._source, self.stream = choose_stream(self._source, stream, path)
            self._check_sizes()
        except BaseException:
            self._source.close()
            raise

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

    def _check_sizes(self) -> None:
        """Raise if the file states an impossible sensor, or the region is not on the sensor."""
        width, height = self._source.resolution or (1, 1)
        if not (0 < width <= 65_536 and 0 < height <= 65_536):
            reason = f"the file states an impossible sensor size of {width}x{height} px"
            raise FormatError(reason, path=self.path)
        if (known := self._given or self._source.resolution) is not None:
            self.cut.check_inside(known)

    @property
    def streams(self) -> list[Stream]:
        """The streams that the file declares: name, kind, sensor size, number of elements."""
        return self._source.streams()

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
        """``(width, height)``, px; that of the region if the recording is cut to one."""
        return self.sensor_size if self.cut.roi is None else self.cut.roi.resolution

    @property
    def sensor_size(self) -> tuple[int, int]:
        """``(width, height)`` of the whole sensor, px.

        If neither the caller nor the file states it, the events are scanned once, and the
        smallest standard sensor size that holds them all is taken. In formats of data sets that hold
        crops of a sensor (DAT of N-CARS), events in less than half of both sides of that size are a
        crop: its size is the extent of the events.
        """
        known = self._given or self._source.resolution or self._guessed
        if known is not None:
            return known
        high_x = high_y = -1
        for packet in self._packets(is_scan=True):
            if packet.t.size:
                high_x = max(high_x, int(packet.x.max()))
                high_y = max(high_y, int(packet.y.max()))
        return self._guess(high_x + 1, high_y + 1)

    @property
    def fraction_read(self) -> float | None:
        """Share of the file before the end of the last chunk, 0 to 1; None if unknown."""
        share = None if self._pass is None else self._pass.share()
        if share is not None:
            return share
        if not self.cut.limits_time and self._source.n_events:
            return min(self._n_read / self._source.n_events, 1.0) if self._n_read else None
        return self._position / self._n_bytes if self._position and self._n_bytes else None

    @property
    def n_events_stated(self) -> int | None:
        """Number of events of the whole file by its header; None if it states none."""
        return self._source.n_events

    @property
    def n_indexed(self) -> int | None:
        """Number of events, if the file has an index by their number and nothing is cut; else None."""
        n = self._source.n_events
        has_index = self.cut.is_whole and n is not None and (n == 0 or self.time_of(0) is not None)
        return n if has_index else None

    def time_of(self, number: int) -> int | None:
        """Return the time of an event by its number, us; None without an index, or if it is damaged."""
        self._check_open()
        try:
            return self._source.time_of(number)
        except Exception as error:
            self._translated(error, 0)  # raises what is no damage
            return None

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
        self.damage = None
        packet = self._whole() if self.cut.is_whole else self._cut_whole()
        size = self._given or self._source.resolution or self._guessed
        if self.cut.is_whole and size is None:
            is_empty = packet is None or not packet.t.size
            ends = (0, 0) if is_empty else (int(packet.x.max()) + 1, int(packet.y.max()) + 1)
            self._guess(*ends)
        size = self.resolution
        return Events.empty(size) if packet is None else _events(packet, size, slice(None))

    def _whole(self) -> Packet | None:
        packet = self._source.whole(self._given or self._source.resolution)
        if packet is None:
            n_expected = self._source.n_events
            packet = join(self._packets(), n_expected=n_expected, n_bytes=self._n_bytes)
        return packet

    def _cut_whole(self) -> Packet | None:
        """Return the events of the cut; their number is unknown."""
        span = self._span()
        packet = self._part().whole(self._given or self._source.resolution)
        if packet is None or not is_proved(packet, span, self._t_first):
            return join(self._packets(), n_expected=0, n_bytes=self._n_bytes)
        cutting = CutPass(self.cut, self._first_time())
        kept = cutting.kept(packet)
        cutting.finish(self.path)
        return kept

    def imu(self) -> Imu | None:
        """Return all IMU samples, or None if the file has no such stream."""
        samples = self._guarded_call("IMU samples", self._part().imu)
        return samples_within(samples, self._sensor_span())

    def triggers(self) -> Triggers | None:
        """Return all triggers, or None if the file has no such stream."""
        triggers = self._guarded_call("triggers", self._part().triggers)
        return samples_within(triggers, self._span())

    def frames(self) -> Iterator[Frame]:
        """Yield the frames one by one."""
        frames, span, roi = self._part().frames(), self._sensor_span(), self.cut.roi
        while True:
            frame = self._guarded_call("frames", lambda: next(frames, None))
            if frame is None or (span is not None and span.end is not None and frame.t >= span.end):
                return
            if span is None or frame.t >= span.start:
                frame = frame if roi is None else cropped_frame(frame, roi)
                if frame is not None:
                    yield frame

    def count_from(self, other: "Recording") -> None:
        """Count the start of the cut from the first event of another recording."""
        self._t_first = other._first_time()

    def _first_time(self) -> int | None:
        """Return the time of the first event of the file; None without events."""
        if self._t_first is None:
            with closing(self._checked_packets(is_scan=True)) as packets:
                times = (int(packet.t[0]) for packet in packets if packet.t.size)
                self._t_first = next(times, None)
        return self._t_first

    def _span(self) -> TimeSpan | None:
        """Return the times of the cut; None if it keeps all, or there are no events."""
        if not self.cut.limits_time or (t_first := self._first_time()) is None:
            return None
        return self.cut.span(t_first)

    def _sensor_span(self) -> TimeSpan | None:
        """Return the times of the cut in the clock of IMU samples and frames."""
        span = self._span()
        return None if span is None else span.shifted(self._source.sensor_clock_offset)

    def _part(self) -> Source:
        """Return the source of the cut, which may skip all other data."""
        span = self._span()
        if span is None:
            return self._source
        if self._parts is None or self._parts[0] != span:
            try:
                self._parts = span, self._source.between(*span)
            except Exception as error:
                self._translated(error, 0)  # raises what is no damage
                return self._source  # reading it reports the damage
        return self._parts[1]

    def camera(self) -> Camera | None:
        """Return the calibration that lies beside the events, or None; ``calib.txt`` of ECD has one.

        Motions that need a camera use it unless another one is given.
        """
        self._check_open()
        try:
            found = self._source.camera()
        except ConfigError as error:
            remedy = Setting("Correct it, or set the calibration", "camera")
            raise ConfigError(f"{self.path}: calib.txt: {error}", remedy=remedy) from error
        roi = self.cut.roi
        return found if found is None or roi is None else found.cropped(roi)

    @property
    def sensor_clock_offset_us(self) -> int:
        """Time of IMU samples and frames minus that of events, us; 0 unless they have two clocks."""
        return self._source.sensor_clock_offset

    def _packets(self, *, is_scan: bool = False) -> Iterator[Packet]:
        packets = self._checked_packets(is_scan=is_scan)
        self._live.append(packets)
        try:
            yield from packets
        finally:
            packets.close()
            self._live = [live for live in self._live if live is not packets]

    def _checked_packets(self, *, is_scan: bool) -> Generator[Packet, None, None]:
        """Yield checked packets of the cut; a scan reads all, and leaves damage to the read after it."""
        self._check_open()
        if not is_scan:
            self.damage = None
        cutting = None if is_scan or self.cut.is_whole else self._new_pass()
        packets = self._source.packets() if cutting is None else self._packets_of_cut()
        with closed_at_end(packets):
            try:
                yield from self._good_packets(packets, cutting)
            except FormatError as error:
                self._damaged(error, error, quiet=is_scan)
        if cutting is not None:
            cutting.finish(self.path)

    def _new_pass(self) -> CutPass:
        t_first = self._first_time() if self.cut.limits_time else None
        self._pass = CutPass(self.cut, t_first)
        return self._pass

    def _packets_of_cut(self) -> Iterator[Packet]:
        """Yield the packets of the cut, and possibly others, from the source."""
        span = self._span()
        if span is None or self._t_first is None:
            return self._source.packets()
        return packets_of_span(self._source, self._part(), span, self._t_first)

    def _good_packets(self, packets: Iterator[Packet], cutting: CutPass | None) -> Iterator[Packet]:
        """Yield the good events of all packets up to the end of the cut, or raise at damage."""
        size = self._given or self._source.resolution
        n_before = n_read = 0
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
            n_read += n_good
            self._position, self._n_read = min(packet.offset, self._n_bytes), n_read
            good = packet if problem is None else packet.first(n_good)
            kept = good if cutting is None else cutting.kept(good)
            n_before += kept.t.size
            yield kept
            if cutting is not None and cutting.is_done:
                return
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
        fitting = [size for size in sizes if size[0] >= width and size[1] >= height]
        needed = max(width, 1), max(height, 1)
        if max(needed) > _MAX_GUESSED_PX:
            raise FormatError(
                f"the file does not state its sensor size, and its events need {width}x{height} px, "
                "more than any known sensor",
                path=self.path,
                remedy=Setting("If it is not damaged, set the sensor size", "resolution"),
            )
        self._guessed = fitting[0] if fitting else needed
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
        elif width and not fitting:
            logger.warning(
                "%s: the file does not state its sensor size; taking %dx%d, the extent of the events, "
                "which no standard size holds. %s",
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
    signal = None if signal is None else normalized(signal)
    p = normalized(packet.p[part])
    return Events.trusted(packet.x[part], packet.y[part], packet.t[part], p, resolution, signal)


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
    if not (are_times(t[0]) and are_times(t[-1])):
        first = int(np.argmin(are_times(t)))
        if first < n_good:
            n_good, problem = first, f"an event has the impossible time {t[first]} us"
    if size is not None and (x.max() >= size[0] or y.max() >= size[1]):
        first = int(np.argmax((x >= size[0]) | (y >= size[1])))
        if first < n_good:
            n_good, where = first, f"x={x[first]}, y={y[first]}"
            problem = f"event at {where} lies outside the sensor of {size[0]}x{size[1]} px"
    return n_good, problem
