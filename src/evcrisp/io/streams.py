"""Choose one of the streams of events of a file."""

import logging
from pathlib import Path

from evcrisp.core.errors import Setting, UnknownNameError
from evcrisp.io.protocol import Source, Stream

logger = logging.getLogger(__name__)


def choose_stream(source: Source, wanted: str | int | None, path: Path) -> tuple[Source, str]:
    """Return the source and the name of a stream; by default the first, with a message if others exist."""
    streams = source.streams()
    of_events = [stream for stream in streams if stream.kind == "events"]
    if wanted is not None:
        name = _found(streams, str(wanted), path).name
        return source.choose(name), name
    if not of_events:
        return source, ""
    if len(of_events) > 1:
        logger.warning(
            "%s: the file has %d streams of events (%s); reading %s. %s",
            *(path, len(of_events), _names(of_events), of_events[0].name),
            Setting("Choose another", "stream"),
        )
    return source, of_events[0].name


def _found(streams: list[Stream], wanted: str, path: Path) -> Stream:
    """Return the stream of events with a name or alias, or raise."""
    of_events = [stream for stream in streams if stream.kind == "events"]
    by_name = [stream for stream in of_events if wanted == stream.name]
    by_alias = [stream for stream in of_events if wanted in stream.aliases]
    if by_name or len(by_alias) == 1:
        return (by_name or by_alias)[0]
    problem = f"{path} has no stream of events {wanted!r}"
    others = [stream for stream in streams if wanted in (stream.name, *stream.aliases)]
    if len(by_alias) > 1:
        problem = f"{path} has several streams of events {wanted!r}"
    elif others:
        problem = f"The stream {wanted!r} of {path} holds {others[0].kind}, not events"
    known = f"Known: {_names(of_events)}." if of_events else "It has no stream of events."
    raise UnknownNameError(f"{problem}. {known}")


def _names(streams: list[Stream]) -> str:
    """List names, with the first alias in parentheses if it tells more."""
    return ", ".join(
        f"{stream.name} ({stream.aliases[0]})"
        if stream.aliases and stream.aliases[0] not in stream.name
        else stream.name
        for stream in streams
    )
