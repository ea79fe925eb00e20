"""Write events in any format, all or nothing."""

import itertools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.core.registry import build
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.atomic_output import replacing
from evcrisp.io.protocol import Closing, Extras, ExtrasSink, Sink, Writer
from evcrisp.io.recording import Recording
from evcrisp.io.registry import WRITERS

logger = logging.getLogger(__name__)


def writer_for(
    path: Path, format: str | None = None, options: Mapping[str, object] | None = None
) -> Writer:
    """Return the writer for a name, or for the suffix of a path, with its options set."""
    if format is None:
        name = path.name.lower()
        matches = (writer.name for writer in WRITERS.values() if name.endswith(writer.suffixes))
        format = next(matches, None)
    if format is None:
        known = ", ".join(sorted({s for writer in WRITERS.values() for s in writer.suffixes}))
        raise ConfigError(
            f"No output format has the suffix of {path.name!r}. Known: {known}. "
            f"Or name one with `format`: {', '.join(sorted(WRITERS))}."
        )
    return build(WRITERS, format, "output format", **(options or {}))


def write(
    path: str | PathLike[str],
    events: Events | Recording | Iterable[Events],
    *,
    format: str | None = None,
    overwrite: bool = False,
    imu: Imu | None = None,
    extras_from: Extras | None = None,
    on_chunk: Callable[[Events], None] | None = None,
    options: Mapping[str, object] | None = None,
    **named_options: object,
) -> int:
    """Write events to a file; it appears under its name only when it is complete.

    Parameters
    ----------
    path : path
        Where to write. The suffix chooses the format unless ``format`` does.
    events : Events, Recording or iterable of Events
        What to write. A recording is streamed, and its IMU samples, triggers and frames go along
        where the output format keeps them.
    format : str, optional
        Name of the output format.
    overwrite : bool
        Replace an existing file. By default that is an error.
    imu : Imu, optional
        Samples that go with the events, where the format keeps them; a recording has its own.
    extras_from : Recording, optional
        A recording (or what has its methods ``imu``, ``triggers`` and ``frames``) whose IMU samples,
        triggers and frames go along, as if it were the source.
    on_chunk : callable, optional
        Called with each chunk after it was written, for progress.
    options, **named_options
        Options of the format, such as ``compression``, as a mapping or by name.

    Returns
    -------
    int
        Number of events written.
    """
    path = Path(path)
    writer = writer_for(path, format, {**(options or {}), **named_options})
    with replacing(path, overwrite=overwrite) as temporary:
        return fill(temporary, writer, events, imu=imu, extras_from=extras_from, on_chunk=on_chunk)


def fill(
    path: Path,
    writer: Writer,
    events: Events | Recording | Iterable[Events],
    *,
    imu: Imu | None = None,
    extras_from: Extras | None = None,
    on_chunk: Callable[[Events], None] | None = None,
) -> int:
    """Write events to a file that nobody sees yet; parameters as for :func:`write`."""
    recording = events if isinstance(events, Recording) else None
    chunks = _checked(_chunks(events), writer)
    first = next(chunks, None)
    if first is None:
        if recording is None:
            raise ConfigError("`events` must hold at least one `Events`; got none.")
        first = Events.empty(recording.resolution)
    with Closing(writer.open(path, first.resolution)) as sink:
        n_events = 0
        for chunk in itertools.chain((first,), chunks):
            sink.write(chunk)
            n_events += len(chunk)
            if on_chunk is not None:
                on_chunk(chunk)
        extras = recording if extras_from is None else extras_from
        if extras is not None:
            _write_extras(sink, writer, extras.imu(), extras.triggers(), extras.frames())
        else:
            _write_extras(sink, writer, imu, None, iter(()))
    return n_events


def _chunks(events: Events | Recording | Iterable[Events]) -> Iterator[Events]:
    if isinstance(events, Events):
        return iter((events,))
    return iter(events.chunks() if isinstance(events, Recording) else events)


def _checked(chunks: Iterator[Events], writer: Writer) -> Iterator[Events]:
    """Yield chunks that belong together, and say once if their labels are lost."""
    resolution: tuple[int, int] | None = None
    t_last: int | None = None
    is_said = False
    for chunk in chunks:
        if not isinstance(chunk, Events):
            raise EventDataError(
                f"`events` must be Events, a Recording or an iterable of Events; "
                f"got {type(chunk).__name__}."
            )
        resolution = chunk.resolution if resolution is None else resolution
        if chunk.resolution != resolution:
            raise EventDataError(
                f"All chunks must be of one sensor; got {chunk.resolution} after {resolution}."
            )
        if len(chunk):
            if t_last is not None and chunk.t[0] < t_last:
                raise EventDataError(
                    f"Chunks must follow each other in time; one starts at {chunk.t[0]} us after "
                    f"one that ends at {t_last} us."
                )
            t_last = int(chunk.t[-1])
        if chunk.signal is not None and len(chunk) and not writer.keeps_signal and not is_said:
            is_said = True
            keeping = ", ".join(sorted(n for n, other in WRITERS.items() if other.keeps_signal))
            logger.warning(
                "Format %r does not keep labels (`signal`); they are left out. These do: %s.",
                writer.name,
                keeping,
            )
        yield chunk


def _write_extras(
    sink: Sink,
    writer: Writer,
    imu: Imu | None,
    triggers: Triggers | None,
    frames: Iterator[Frame],
) -> None:
    if isinstance(sink, ExtrasSink):
        if imu is not None:
            sink.write_imu(imu)
        if triggers is not None:
            sink.write_triggers(triggers)
        sink.write_frames(frames)
        return
    counts = {
        "IMU sample": 0 if imu is None else len(imu),
        "trigger": 0 if triggers is None else len(triggers),
        "frame": sum(1 for _ in frames),
    }
    lost = ", ".join(counted(n, what) for what, n in counts.items() if n)
    if lost:
        logger.warning("Format %r keeps events only; left out: %s.", writer.name, lost)
