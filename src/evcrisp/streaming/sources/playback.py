"""Play a recording as if a camera sent it: in real time, at another speed, or without waiting."""

import threading
import time
from collections.abc import Iterator

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.io.recording import Recording
from evcrisp.streaming.protocol import LiveSource, SourceCounts
from evcrisp.streaming.sources.played_sensor_data import PlayedSensorData

#: Packets end after this much time of the recording, us, or after this many events.
_PACKET_US = 5_000
_PACKET_EVENTS = 10_000


class Playback(LiveSource):
    """A recording as a source.

    Parameters
    ----------
    recording : Recording
        An open recording; it stays open.
    speed : float or "max"
        Time of the recording per time of the clock; "max" waits for the worker only.
    """

    def __init__(self, recording: Recording, speed: float | str = 1.0) -> None:
        if speed != "max":
            if isinstance(speed, str):
                raise ConfigError("must be a number or 'max'", parameter="speed", value=speed)
            check_number("speed", speed, 0, open_low=True)
        self.name = str(recording.path)
        self.counts = SourceCounts()
        self.can_wait = speed == "max"
        self.speed = 1.0 if speed == "max" else float(speed)
        self._recording = recording
        self._stop = threading.Event()
        self._beside: PlayedSensorData | None = None

    def open(self) -> tuple[int, int]:
        """Return the sensor size; find the sensor data."""
        self._beside = PlayedSensorData(self._recording)
        self.sensor_kinds = self._beside.kinds
        return self._recording.resolution

    def chunks(self) -> Iterator[Events]:
        """Yield packets of a few milliseconds when their last event is due."""
        start: float | None = None
        t_first = 0
        for chunk in self._recording.chunks():
            for packet in _packets(chunk):
                if start is None:
                    start, t_first = time.monotonic(), int(packet.t[0])
                if not self.can_wait:
                    due = start + (int(packet.t[-1]) - t_first) / (1e6 * self.speed)
                    self._stop.wait(max(0.0, due - time.monotonic()))
                if self._stop.is_set():
                    return
                self._pass_on(int(packet.t[-1]))
                yield packet
        self._pass_on(None)

    def _pass_on(self, t_last: int | None) -> None:
        if self._beside is not None and self.on_sensor_data is not None:
            for data in self._beside.take(t_last):
                self.on_sensor_data(data)

    def close(self) -> None:
        """End the playback."""
        self._stop.set()


def _packets(chunk: Events) -> Iterator[Events]:
    """Cut a chunk into packets, as a camera sends them."""
    first = 0
    while first < len(chunk):
        end = int(np.searchsorted(chunk.t, chunk.t[first] + _PACKET_US))
        end = min(end, first + _PACKET_EVENTS)
        yield chunk[first:end]
        first = end
