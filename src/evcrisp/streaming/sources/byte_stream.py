"""Read AEDAT4 from a stream of bytes: packets of events, checked; damaged ones are skipped."""

from collections.abc import Iterator
from typing import IO

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.io.aedat.aedat4_packets import EVENTS, Header
from evcrisp.streaming.aedat4_wire import read_packets, read_start
from evcrisp.streaming.checked_stream import CheckedStream


def read_sensor(file: IO[bytes], given: tuple[int, int] | None) -> tuple[Header, tuple[int, int]]:
    """Read the start of a stream; return it with the sensor size, which may be given."""
    header = read_start(file)
    events = header.chosen(EVENTS)
    if events is None:
        kinds = ", ".join(stream.name for stream in header.streams) or "nothing"
        raise FormatError(f"the stream has no events; it has {kinds}")
    resolution = given or events.resolution
    if resolution is None:
        raise FormatError("the stream does not state the sensor size; give the resolution")
    return header, resolution


def read_events(file: IO[bytes], header: Header, checked: CheckedStream) -> Iterator[Events]:
    """Yield the events of each good packet."""
    for found in read_packets(file, header):
        if isinstance(found, FormatError):
            checked.skip(found.reason)
        elif (events := checked.accept(found)) is not None:
            yield events
