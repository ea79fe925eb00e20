"""Read AEDAT4 from a stream of bytes: packets of events, checked; damaged ones are skipped."""

from collections.abc import Iterator
from typing import IO

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.io.aedat.aedat4_packets import EVENTS, Header
from evcrisp.streaming.aedat4_wire import read_packets, read_start
from evcrisp.streaming.checked_stream import CheckedStream
from evcrisp.streaming.sensor_data import OnSensorData, SensorData


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


def read_events(
    file: IO[bytes],
    header: Header,
    checked: CheckedStream,
    on_sensor_data: OnSensorData | None = None,
) -> Iterator[Events]:
    """Yield the events of each good packet; sensor data go to ``on_sensor_data``."""
    pass_on = None
    if on_sensor_data is not None:

        def pass_on(data: SensorData) -> None:
            if (accepted := checked.accept_sensor_data(data)) is not None:
                on_sensor_data(accepted)

    for found in read_packets(file, header, pass_on):
        if isinstance(found, FormatError):
            checked.skip(found.reason)
        elif (events := checked.accept(found)) is not None:
            yield events
