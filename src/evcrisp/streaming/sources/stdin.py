"""Read AEDAT4 from standard input, such as the output of another program."""

import sys
from collections.abc import Iterator
from typing import IO

from evcrisp.core.errors import EvError, FormatError
from evcrisp.core.events import Events
from evcrisp.io.aedat.aedat4_packets import Header
from evcrisp.streaming.aedat4_wire import sensor_kinds
from evcrisp.streaming.checked_stream import CheckedStream
from evcrisp.streaming.protocol import LiveSource, SourceCounts
from evcrisp.streaming.sources.byte_stream import read_events, read_sensor


class StdinSource(LiveSource):
    """Events of a pipe. The writer waits while the worker is busy: nothing is dropped."""

    name = "standard input"
    can_wait = True

    def __init__(
        self, resolution: tuple[int, int] | None = None, file: IO[bytes] | None = None
    ) -> None:
        self.counts = SourceCounts()
        self._file = sys.stdin.buffer if file is None else file
        self._given, self._is_closed = resolution, False
        self._header: Header | None = None
        self._checked: CheckedStream | None = None

    def open(self) -> tuple[int, int]:
        """Read the start of the stream, with the sensor size."""
        try:
            self._header, resolution = read_sensor(self._file, self._given)
        except FormatError as error:
            raise EvError(f"Standard input has no AEDAT4 events: {error.reason}.") from error
        self._checked = CheckedStream(resolution, self.counts)
        self.sensor_kinds = sensor_kinds(self._header)
        return resolution

    def chunks(self) -> Iterator[Events]:
        """Yield the events of good packets; a stream that is cut off ends there."""
        assert self._header is not None
        assert self._checked is not None
        try:
            packets = (self._file, self._header, self._checked, self.on_sensor_data)
            for events in read_events(*packets):
                if self._is_closed:
                    return
                yield events
        except FormatError as error:
            self._checked.skip(error.reason)

    def close(self) -> None:
        """End after the next packet; a waiting read cannot be interrupted."""
        self._is_closed = True
