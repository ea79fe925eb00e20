"""IMU samples, triggers and frames beside live events: held until the events of their time are out."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from evcrisp.core.sensor_data import Frame, Imu, Triggers

SensorData = Imu | Triggers | Frame

#: Names of the kinds in messages.
NAMES = {"imu": "IMU samples", "triggers": "triggers", "frames": "frames"}

#: Sinks that keep them, in messages.
SINKS_THAT_KEEP = "AEDAT4 files, AEDAT4 on standard output, and servers at an address with ?sensors"

#: Called with sensor data as they come.
OnSensorData = Callable[[SensorData], None]

#: Kind of each type, as in ``Writer.keeps``.
KINDS: dict[type, str] = {Imu: "imu", Triggers: "triggers", Frame: "frames"}

#: Bytes that wait for events; when more come, the oldest are dropped.
_MAX_BYTES = 1 << 26


@runtime_checkable
class KeepsSensorData(Protocol):
    """A sink that also takes sensor data."""

    keeps: tuple[str, ...]

    def expect(self, kinds: tuple[str, ...]) -> None:
        """Note the kinds that can come, before the sink is opened."""
        ...

    def write_sensor_data(self, data: SensorData) -> None:
        """Append sensor data; they come in the order of time."""
        ...


def kind_of(data: SensorData) -> str:
    """Return "imu", "triggers" or "frames"."""
    return KINDS[type(data)]


def first_time(data: SensorData) -> int:
    """Return the time of the first sample, us."""
    return data.t if isinstance(data, Frame) else int(data.t[0])


def split(data: SensorData, t_last: int) -> tuple[SensorData | None, SensorData | None]:
    """Return the samples up to a time, and those after it; None for no samples.

    >>> samples = Triggers(t=np.array([0, 5, 9]), kind=np.ones(3, np.uint8), channel=np.zeros(3, np.uint8))
    >>> split(samples, 5)
    (Triggers(n=2, t=0..5 us), Triggers(n=1, t=9..9 us))
    """
    if isinstance(data, Frame):
        return (data, None) if data.t <= t_last else (None, data)
    n = int(np.searchsorted(data.t, t_last, side="right"))
    return _rows(data, slice(n)), _rows(data, slice(n, None))


def _rows(data: Imu | Triggers, part: slice) -> Imu | Triggers | None:
    columns = {f.name: getattr(data, f.name) for f in fields(data)}
    chosen: dict[str, Any] = {k: v if v is None else v[part] for k, v in columns.items()}
    return replace(data, **chosen) if chosen["t"].size else None


def _n_bytes(data: SensorData) -> int:
    return data.image.nbytes if isinstance(data, Frame) else 100 * len(data)


class SensorDataQueue:
    """Sensor data in the order of their arrival, in bounded memory; the newest are kept."""

    def __init__(self) -> None:
        self.n_dropped = 0
        self._waiting: deque[SensorData] = deque()
        self._n_bytes = 0
        self._lock = threading.Lock()

    def put(self, data: SensorData) -> None:
        """Append data."""
        with self._lock:
            self._waiting.append(data)
            self._n_bytes += _n_bytes(data)
            while self._n_bytes > _MAX_BYTES and len(self._waiting) > 1:
                self._n_bytes -= _n_bytes(self._waiting.popleft())
                self.n_dropped += 1

    def take(self, t_last: int | None) -> list[SensorData]:
        """Remove and return the data up to a time, or all, in the order of time."""
        with self._lock:
            parts = list(self._waiting)
            found = [(d, None) if t_last is None else split(d, t_last) for d in parts]
            self._waiting = deque(later for _, later in found if later is not None)
            self._n_bytes = sum(map(_n_bytes, self._waiting))
        return sorted((due for due, _ in found if due is not None), key=first_time)
