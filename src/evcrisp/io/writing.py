"""Write events in any format, all or nothing."""

import itertools
import logging
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path

from evcrisp.errors import ConfigError
from evcrisp.events import Events
from evcrisp.io._protocol import Closing, ExtrasSink, Sink, Writer
from evcrisp.io._writing import replacing
from evcrisp.io.formats import WRITERS
from evcrisp.io.recording import Recording
from evcrisp.registry import configured
from evcrisp.streams import Imu

logger = logging.getLogger(__name__)


def writer_for(path: Path, format: str | None = None, **options: object) -> Writer:
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
    return configured(WRITERS, format, "output format", options)


def write(
    path: str | PathLike[str],
    events: Events | Recording | Iterable[Events],
    *,
    format: str | None = None,
    overwrite: bool = False,
    imu: Imu | None = None,
    extras_from: Recording | None = None,
    on_chunk: Callable[[Events], None] | None = None,
    **options: object,
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
        A recording whose IMU samples, triggers and frames go along, as if it were the source.
    on_chunk : callable, optional
        Called with each chunk after it was written, for progress.
    **options
        Options of the format, such as ``compression``.

    Returns
    -------
    int
        Number of events written.
    """
    path = Path(path)
    writer = writer_for(path, format, **options)
    recording = events if isinstance(events, Recording) else None
    with replacing(path, overwrite=overwrite) as temporary:
        chunks = iter((events,)) if isinstance(events, Events) else _chunks(events)
        first = next(chunks, None)
        if first is None:
            if recording is None:
                raise ConfigError("`events` must hold at least one `Events`; got none.")
            first = Events.empty(recording.resolution)
        with Closing(writer.open(temporary, first.resolution)) as sink:
            n_events = 0
            for chunk in itertools.chain((first,), chunks):
                _write_chunk(sink, chunk, writer, n_events)
                n_events += len(chunk)
                if on_chunk is not None:
                    on_chunk(chunk)
            extras = recording if extras_from is None else extras_from
            if extras is not None:
                _write_extras(sink, extras, writer)
            elif imu is not None and isinstance(sink, ExtrasSink):
                sink.write_imu(imu)
    return n_events


def _chunks(events: Recording | Iterable[Events]) -> Iterator[Events]:
    return iter(events.chunks() if isinstance(events, Recording) else events)


def _write_chunk(sink: Sink, chunk: Events, writer: Writer, n_before: int) -> None:
    if chunk.signal is not None and not writer.keeps_signal and n_before == 0:
        logger.warning(
            "Format %r does not keep labels (`signal`); they are left out. Use npz or dsec.",
            writer.name,
        )
    sink.write(chunk)


def _write_extras(sink: Sink, recording: Recording, writer: Writer) -> None:
    imu, triggers = recording.imu(), recording.triggers()
    if isinstance(sink, ExtrasSink):
        if imu is not None:
            sink.write_imu(imu)
        if triggers is not None:
            sink.write_triggers(triggers)
        sink.write_frames(recording.frames())
        return
    n_frames = sum(1 for _ in recording.frames())
    counts = {"IMU samples": len(imu or ()), "triggers": len(triggers or ()), "frames": n_frames}
    lost = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
    if lost:
        logger.warning("Format %r keeps events only; left out: %s.", writer.name, lost)
