"""Sources and sinks of live events, and the counts of a source."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from evcrisp.core.events import Events

if TYPE_CHECKING:
    from evcrisp.streaming.sensor_data import OnSensorData


@dataclass(slots=True)
class SourceCounts:
    """What a source left out or repeated; the source updates it."""

    n_damaged: int = 0  # packets that were skipped
    n_reconnects: int = 0
    n_clock_restarts: int = 0
    n_lost: int = 0  # messages that did not arrive, by their sequence numbers


class LiveSource(Protocol):
    """Events as they come. A thread iterates over `chunks`; `close` may come from another thread."""

    name: str
    counts: SourceCounts
    #: True if the source waits for the worker, so that no event is dropped.
    can_wait: bool
    #: Kinds of sensor data beside the events, known when the source is open.
    sensor_kinds: tuple[str, ...] = ()
    #: Takes sensor data in the order of time; the session sets it before it iterates.
    on_sensor_data: "OnSensorData | None" = None

    def open(self) -> tuple[int, int]:
        """Open the source and return (width, height) of the sensor, px."""
        ...

    def chunks(self) -> Iterator[Events]:
        """Yield events in the order of time until the source ends or is closed."""
        ...

    def close(self) -> None:
        """End the iteration soon."""
        ...


class LiveSink(Protocol):
    """An output of cleaned events."""

    name: str

    @property
    def n_dropped(self) -> int:
        """Events that slow receivers did not get."""
        return 0

    def open(self, resolution: tuple[int, int]) -> None:
        """Start the output for a sensor of (width, height), px."""
        ...

    def write(self, events: Events) -> None:
        """Append events; they come in the order of time."""
        ...

    def close(self, *, is_complete: bool) -> None:
        """End the output; an incomplete file is removed."""
        ...
