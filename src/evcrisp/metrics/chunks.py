"""Streams of chunks, for all metrics."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events


class Meter(Protocol):
    """A metric of one recording in progress."""

    def add(self, events: Events) -> None:
        """Add the next chunk."""
        ...

    def value(self) -> float:
        """Return the metric of the events so far; NaN if it is undefined."""
        ...


AnyMeter = TypeVar("AnyMeter", bound=Meter)


def read_chunks(
    source: Events | Iterable[Events], start: Callable[[tuple[int, int]], AnyMeter]
) -> AnyMeter | None:
    """Return a meter of a whole stream, started with its resolution; None without chunks."""
    meter = None
    for chunk in chunks_of(source):
        meter = start(chunk.resolution) if meter is None else meter
        meter.add(chunk)
    return meter


def chunks_of(source: Events | Iterable[Events]) -> Iterable[Events]:
    """Return the chunks of a stream; events are a stream of one chunk."""
    return (source,) if isinstance(source, Events) else source


def checked(events: Events, resolution: tuple[int, int]) -> Events:
    """Return a chunk with contiguous columns; raise if it is from another sensor."""
    if events.resolution != resolution:
        raise EventDataError(
            f"All chunks must have one resolution; got {events.resolution} after {resolution}."
        )
    return events.contiguous()
