"""Streams of chunks, for all metrics."""

from collections.abc import Iterable

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events


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
