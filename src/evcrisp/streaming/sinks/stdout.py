"""Write cleaned events to standard output, as AEDAT4 or CSV."""

import sys
from typing import IO

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.validation import check_choice
from evcrisp.streaming.aedat4_wire import packets_of, sensor_packets, stream_start
from evcrisp.streaming.protocol import LiveSink
from evcrisp.streaming.sensor_data import KINDS, SensorData

FORMATS = ("aedat4", "csv")


class StdoutSink(LiveSink):
    """Standard output as a sink; every packet is flushed."""

    name = "standard output"

    def __init__(self, format: str = "aedat4", file: IO[bytes] | None = None) -> None:
        check_choice("stdout_format", format, FORMATS)
        self._is_csv = format == "csv"
        self._file = sys.stdout.buffer if file is None else file
        self.keeps = () if self._is_csv else tuple(KINDS.values())
        self._kinds: tuple[str, ...] = ()

    def expect(self, kinds: tuple[str, ...]) -> None:
        """Declare the streams of sensor data."""
        self._kinds = kinds

    def open(self, resolution: tuple[int, int]) -> None:
        """Write the start of the file."""
        if self._is_csv:
            self._file.write(b"# evcrisp width=%d height=%d\nt,x,y,p\n" % resolution)
        else:
            self._file.write(stream_start(resolution, self._kinds, as_file=True))
        self._file.flush()

    def write(self, events: Events) -> None:
        """Write events."""
        if self._is_csv:
            rows = np.column_stack((events.t, events.x, events.y, events.p)).tolist()
            text = "".join(f"{t},{x},{y},{p}\n" for t, x, y, p in rows)
            self._file.write(text.encode())
        else:
            for packet, _ in packets_of(events):
                self._file.write(packet)
        self._file.flush()

    def write_sensor_data(self, data: SensorData) -> None:
        """Write sensor data."""
        for packet in sensor_packets(data):
            self._file.write(packet)
        self._file.flush()

    def close(self, *, is_complete: bool) -> None:
        """Leave standard output open."""
