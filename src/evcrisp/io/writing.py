"""Write events in any format; an output is complete or does not exist."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any, Self, cast

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.core.registry import build
from evcrisp.core.sensor_data import Frame, Imu, Triggers, shifted
from evcrisp.core.validation import as_path
from evcrisp.io.atomic_output import replacing
from evcrisp.io.protocol import (
    JoiningSink,
    SensorData,
    SensorDataSink,
    Sink,
    Writer,
    finishing,
)
from evcrisp.io.recording import Recording
from evcrisp.io.registry import WRITERS

logger = logging.getLogger(__name__)

#: Output format for recordings whose format is not written.
DEFAULT_FORMAT = "aedat4"


def writer_for(
    path: Path,
    format: str | type[Writer] | Writer | None = None,
    options: Mapping[str, object] | None = None,
) -> Writer:
    """Return the configured writer of a format, or of the suffix of a path."""
    name = path.name.lower()
    if format is None:
        matches = (writer.name for writer in WRITERS.values() if name.endswith(writer.suffixes))
        format = next(matches, None)
    elif isinstance(format, str) and format not in WRITERS:
        writer, suffix = writer_and_suffix(format, options)
        if not name.endswith(suffix):
            raise ConfigError(
                f"{format!r} is the suffix of files, and {path.name!r} does not end with it.",
                remedy=f"Name the output {path.stem}{suffix}, or the format: {writer.name}.",
            )
        return writer
    if format is None:
        known = ", ".join(sorted({s for writer in WRITERS.values() for s in writer.suffixes}))
        raise ConfigError(
            f"No output format has the suffix of {path.name!r}. Known: {known}.",
            remedy=f"Or name the output format: {', '.join(sorted(WRITERS))}.",
        )
    return build(WRITERS, format, "output format", **(options or {}))


def writer_and_suffix(
    format: str | type[Writer] | Writer, options: Mapping[str, object] | None = None
) -> tuple[Writer, str]:
    """Return the configured writer of a format, and the suffix of its files.

    The format may be named by the suffix of its files too, with or without the dot.

    >>> writer, suffix = writer_and_suffix("db3")
    >>> writer.name, suffix
    ('ros2', '.db3')
    """
    if isinstance(format, str) and format not in WRITERS:
        suffix = f".{format.lower().removeprefix('.')}"
        for writer in WRITERS.values():
            if suffix in writer.suffixes:
                return build(WRITERS, writer.name, "output format", **(options or {})), suffix
    writer = build(WRITERS, format, "output format", **(options or {}))
    return writer, writer.suffixes[0]


def writer_like(
    recording: Recording, format: str | type[Writer] | Writer | None = None
) -> tuple[Writer, str]:
    """Return the writer for a changed copy of a recording, and the suffix of its file.

    The format is that of the recording, unless it is given. Formats that are not written become
    AEDAT4, which keeps all sensor data.
    """
    if format is None:
        format = recording.format if recording.format in WRITERS else DEFAULT_FORMAT
    writer, suffix = writer_and_suffix(format)
    if format in WRITERS or not isinstance(format, str):  # no suffix was named: that of the input
        name = recording.path.name.lower()
        suffix = next((own for own in writer.suffixes if name.endswith(own)), suffix)
    return writer, suffix


def write(
    path: str | PathLike[str],
    events: Events | Recording | Iterable[Events],
    *,
    format: str | type[Writer] | Writer | None = None,
    overwrite: bool = False,
    imu: Imu | None = None,
    sensor_data_from: SensorData | None = None,
    on_chunk: Callable[[Events], None] | None = None,
    options: Mapping[str, object] | None = None,
    **named_options: object,
) -> int:
    """Write events to a file, which appears only when complete; return their number.

    Parameters
    ----------
    path : path
        The output. Its suffix chooses the format unless ``format`` does.
    events : Events, Recording or iterable of Events
        The events. A recording is streamed, with sensor data that the format keeps.
    format : str or Writer, optional
        Name of the output format or suffix of its files, or a writer.
    overwrite : bool
        Replace an existing file. By default that is an error.
    imu : Imu, optional
        IMU samples for formats that keep them; a recording has its own.
    sensor_data_from : Recording, optional
        Object with the methods ``imu``, ``triggers`` and ``frames``, written with the events.
    on_chunk : callable, optional
        Called with each chunk after it was written, for progress.
    options, **named_options
        Options of the format, such as ``compression``, as a mapping or by name.
    """
    path = as_path("path", path, remedy="The path comes first: `write(path, events)`.")
    writer = writer_for(path, format, {**(options or {}), **named_options})
    data = sensor_data_from
    with replacing(path, overwrite=overwrite) as temporary:
        return fill(temporary, writer, events, imu=imu, sensor_data_from=data, on_chunk=on_chunk)


def fill(
    path: Path,
    writer: Writer,
    events: Events | Recording | Iterable[Events],
    *,
    imu: Imu | None = None,
    sensor_data_from: SensorData | None = None,
    on_chunk: Callable[[Events], None] | None = None,
) -> int:
    """Write events to a new temporary file; parameters as for :func:`write`."""
    recording = events if isinstance(events, Recording) else None
    data = recording if sensor_data_from is None else sensor_data_from
    with ChunkWriter(path, writer, sensor_data_from=data, imu=imu) as output:
        for chunk in _chunks(events):
            output.write(chunk)
            if on_chunk is not None:
                on_chunk(chunk)
        if not output.is_open:
            if recording is None:
                raise ConfigError("must have at least one `Events`; got none", parameter="events")
            output.write(Events.empty(recording.resolution))
    return output.n_events


def _chunks(events: Events | Recording | Iterable[Events]) -> Iterator[Events]:
    if isinstance(events, Events):
        return iter((events,))
    return iter(events.chunks() if isinstance(events, Recording) else events)


def can_join(writer: Writer) -> bool:
    """Return whether whole files of a writer can be joined without decoding them."""
    return getattr(writer, "joins", False)


def _keeps_signal(writer: Writer | type[Writer]) -> bool:
    return getattr(writer, "keeps_signal", False)


def _kept_by(writer: Writer | type[Writer]) -> tuple[str, ...]:
    return getattr(writer, "keeps", ())


def _takes_data_first(writer: Writer) -> bool:
    return getattr(writer, "data_first", False)


class ChunkWriter:
    """Write a recording chunk by chunk: a context manager that finishes the file, or aborts it.

    The first chunk opens the file, which has a temporary name. Sensor data, that of
    ``sensor_data_from`` or ``imu`` alone, is written at the end, or at the start if the format has
    it among the events.
    """

    def __init__(
        self,
        path: Path,
        writer: Writer,
        *,
        sensor_data_from: SensorData | None = None,
        imu: Imu | None = None,
    ) -> None:
        self.n_events = 0
        self._path, self._writer, self._data, self._imu = path, writer, sensor_data_from, imu
        self._stack = ExitStack()
        self._sink: Sink | None = None
        self._resolution: tuple[int, int] | None = None
        self._t_last: int | None = None
        self._has_warned = False

    @property
    def is_open(self) -> bool:
        """Whether a chunk was written."""
        return self._sink is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        with self._stack:  # finishes or aborts the sink
            if error is not None:
                raise error
            if self._sink is not None and not _takes_data_first(self._writer):
                self._write_sensor_data(cast(SensorDataSink, self._sink))

    def write(self, chunk: Events) -> None:
        """Append a chunk; raise if it does not continue the ones before."""
        self._check(chunk)
        self._opened(chunk.resolution).write(chunk)
        self.n_events += len(chunk)

    def _opened(self, resolution: tuple[int, int]) -> Sink:
        """Return the sink; the first call opens it."""
        if self._sink is None:
            opened = self._writer.open(self._path, resolution)
            self._sink = self._stack.enter_context(finishing(opened))
            if _takes_data_first(self._writer):
                self._write_sensor_data(cast(SensorDataSink, self._sink))
        return self._sink

    def end_part(self) -> None:
        """Make the bytes of what follows independent of the events before, if the format can."""
        if self._sink is not None and can_join(self._writer):
            cast(JoiningSink, self._sink).end_part()

    def append_part(self, path: Path, resolution: tuple[int, int], *, has_signal: bool) -> None:
        """Append a whole file of the same writer, which `joins`; its events follow in time."""
        sink = cast(JoiningSink, self._opened(resolution))
        if has_signal:
            self._warn_of_signal()
        span = sink.append_part(path)
        if span is not None:
            self._check_order(*span)

    def write_sensor_data(self, data: Imu | Triggers | Frame) -> None:
        """Append sensor data among the events, for writers that interleave; a chunk was written."""
        sink = cast(SensorDataSink, self._sink)
        if isinstance(data, Imu):
            sink.write_imu(data)
        elif isinstance(data, Triggers):
            sink.write_triggers(data)
        else:
            sink.write_frames(iter((data,)))

    def _check(self, chunk: Events) -> None:
        if not isinstance(chunk, Events):
            raise EventDataError(
                "`events` must be Events, a Recording or an iterable of Events; "
                f"got {type(chunk).__name__}."
            )
        self._resolution = chunk.resolution if self._resolution is None else self._resolution
        if chunk.resolution != self._resolution:
            found = f"got {chunk.resolution} after {self._resolution}"
            raise EventDataError(f"All chunks must be of one sensor; {found}.")
        if not len(chunk):
            return
        self._check_order(int(chunk.t[0]), int(chunk.t[-1]))
        if chunk.signal is not None:
            self._warn_of_signal()

    def _check_order(self, t_first: int, t_last: int) -> None:
        """Raise if events do not follow those before."""
        if self._t_last is not None and t_first < self._t_last:
            raise EventDataError(
                f"Chunks must follow each other in time; one starts at {t_first} us, after "
                f"the end of another at {self._t_last} us."
            )
        self._t_last = t_last

    def _warn_of_signal(self) -> None:
        """Log once that labels are left out, if they are."""
        if not _keeps_signal(self._writer) and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "Format %r does not keep labels (`signal`); they are left out. These do: %s.",
                self._writer.name,
                ", ".join(sorted(name for name, other in WRITERS.items() if _keeps_signal(other))),
            )

    def _write_sensor_data(self, sink: SensorDataSink) -> None:
        """Write the sensor data that the format keeps, and log the number of others."""
        data, keeps = self._data, _kept_by(self._writer)
        imu = self._imu if data is None else data.imu()
        triggers = None if data is None else data.triggers()
        frames = iter(()) if data is None else data.frames()
        # IMU samples and frames of some ROS bags have another clock than the events.
        offset = getattr(data, "metadata", {}).get("stamp_offset_us") or 0
        if "stamp_offset" in keeps:
            sink.write_stamp_offset(offset)
        else:
            imu = None if imu is None else shifted(imu, -offset)
            frames = (shifted(frame, -offset) for frame in frames)
        if imu is not None and "imu" in keeps:
            sink.write_imu(imu)
        if triggers is not None and "triggers" in keeps:
            sink.write_triggers(triggers)
        if "frames" in keeps:
            sink.write_frames(frames)
        lost = {
            "imu": 0 if imu is None or "imu" in keeps else len(imu),
            "triggers": 0 if triggers is None or "triggers" in keeps else len(triggers),
            "frames": 0 if "frames" in keeps else sum(1 for _ in frames),
        }
        if any(lost.values()):
            self._warn_of_loss({kind for kind, n in lost.items() if n}, lost)

    def _warn_of_loss(self, kinds: set[str], numbers: dict[str, int]) -> None:
        nouns = {"imu": "IMU sample", "triggers": "trigger", "frames": "frame"}
        listing = ", ".join(counted(numbers[kind], nouns[kind]) for kind in nouns if kind in kinds)
        others = sorted(name for name, other in WRITERS.items() if kinds <= set(_kept_by(other)))
        text = "Format %r does not keep all sensor data; left out: %s. These keep it: %s."
        logger.warning(text, self._writer.name, listing, ", ".join(others))
