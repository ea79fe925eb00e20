"""Cut a recording to a span of time and a region of the sensor, while it is read."""

import logging
import operator
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.live_area import Box
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.core.types import Bools
from evcrisp.core.validation import check_number
from evcrisp.io.protocol import Packet, Source

logger = logging.getLogger(__name__)

S = TypeVar("S", Imu, Triggers)

#: Limits of times, us, and of the sides of a sensor, px.
_LAST_US = int(np.iinfo(np.int64).max)
_MAX_SIDE = 65_536


class TimeSpan(NamedTuple):
    """Times ``start <= t < end``, us; to the end of the recording if ``end`` is None."""

    start: int
    end: int | None = None

    def has(self, t: Any) -> Any:
        """Return whether times lie inside."""
        return (t >= self.start) & (self.end is None or t < self.end)

    def shifted(self, by_us: int) -> "TimeSpan":
        """Return a later span of the same duration."""
        return TimeSpan(self.start + by_us, None if self.end is None else self.end + by_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Part of a recording: a span of time, and a region whose corner becomes (0, 0).

    Parameters
    ----------
    start_us : int, us
        Start, counted from the first event of the recording.
    duration_us : int, us, optional
        Duration; the end is excluded. Default: to the end of the recording.
    roi : (int, int, int, int), px, optional
        Left column, top row, width and height of the region. Default: the whole sensor.

    Examples
    --------
    >>> Cut(start_us=1_000, duration_us=500).span(t_first=20)
    TimeSpan(start=1020, end=1520)
    """

    start_us: int = 0
    duration_us: int | None = None
    roi: Box | None = None

    def __post_init__(self) -> None:
        check_number("start_us", self.start_us, 0, whole=True)
        object.__setattr__(self, "start_us", int(self.start_us))
        if self.duration_us is not None:
            check_number("duration_us", self.duration_us, 1, whole=True)
            object.__setattr__(self, "duration_us", int(self.duration_us))
        if self.roi is not None:
            object.__setattr__(self, "roi", as_roi(self.roi))

    @property
    def limits_time(self) -> bool:
        """Whether a start or a duration is given."""
        return self.start_us > 0 or self.duration_us is not None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is cut."""
        return not self.limits_time and self.roi is None

    def span(self, t_first: int) -> TimeSpan:
        """Return the span of time, given the time of the first event."""
        start = min(t_first + self.start_us, _LAST_US)
        end = None if self.duration_us is None else min(start + self.duration_us, _LAST_US)
        return TimeSpan(start, end)

    def facts(self) -> dict[str, Any] | None:
        """Return the cut as JSON types; None if nothing is cut."""
        if self.is_whole:
            return None
        roi = None if self.roi is None else list(self.roi)
        return {"start_us": self.start_us, "duration_us": self.duration_us, "roi": roi}

    def check_inside(self, resolution: tuple[int, int]) -> None:
        """Raise if the region reaches beyond the sensor."""
        if self.roi is None:
            return
        left, top, width, height = self.roi
        right, bottom = min(left + width, resolution[0]), min(top + height, resolution[1])
        if (right, bottom) == (left + width, top + height):
            return
        size = f"{resolution[0]}x{resolution[1]} px"
        remedy = (
            f"The sensor has columns 0 to {resolution[0] - 1} and rows 0 to {resolution[1] - 1}."
        )
        if right > left and bottom > top:
            remedy = f"The part on the sensor is {left},{top},{right - left},{bottom - top}."
        raise ConfigError(
            f"must lie on the sensor of {size}",
            parameter="roi",
            value=tuple(self.roi),
            remedy=remedy,
        )


def as_roi(roi: Sequence[int]) -> Box:
    """Return a region ``(x, y, width, height)`` as a box; raise if it is impossible.

    >>> as_roi((10, 20, 64, 48))
    Box(left=10, top=20, width=64, height=48)
    """
    try:
        box = Box(*(operator.index(number) for number in roi))
    except TypeError:
        box = Box(-1, -1, -1, -1)
    left, top, width, height = box
    if min(left, top) < 0 or min(width, height) < 1 or max(left + width, top + height) > _MAX_SIDE:
        wanted = "must be (x, y, width, height) in px: x and y 0 or more, both sides 1 or more"
        raise ConfigError(f"{wanted}, up to {_MAX_SIDE}", parameter="roi", value=roi)
    return box


def packets_of_span(source: Source, part: Source, span: TimeSpan, t_first: int) -> Iterator[Packet]:
    """Yield the packets of ``part``, of a span; of the whole source, if events inside were skipped."""
    is_first = True
    with closed_at_end(part.packets()) as packets:
        for packet in packets:
            if is_first and packet.t.size:
                if part is not source and not is_proved(packet, span, t_first):
                    break
                is_first = False
            yield packet
        else:
            return
    with closed_at_end(source.packets()) as packets:
        yield from packets


def is_proved(packet: Packet, span: TimeSpan | None, t_first: int | None) -> bool:
    """Return whether no event inside was skipped: the first one is outside, or that of the file.

    Time does not decrease in a file, so that all events before the first one are outside too.
    """
    if span is None or t_first is None or t_first >= span.start:
        return True
    return packet.t.size > 0 and bool(packet.t[0] < span.start)


@contextmanager
def closed_at_end(packets: Iterator[Packet]) -> Generator[Iterator[Packet], None, None]:
    """Yield packets, and close their file now, not at garbage collection."""
    try:
        yield packets
    finally:
        if isinstance(packets, Generator):
            packets.close()


class CutPass:
    """One pass of a cut over the packets of a recording, in order."""

    def __init__(self, cut: Cut, t_first: int | None) -> None:
        self._cut, self._t_first = cut, t_first
        self._span = cut.span(t_first) if cut.limits_time and t_first is not None else None
        self._t_last: int | None = None  # of all events that were read
        self._n_kept = 0
        self.is_done = False  # whether an event after the end was read

    def kept(self, packet: Packet) -> Packet:
        """Return the events of a packet that belong to the cut."""
        if packet.t.size:
            self._t_last = int(packet.t[-1])
        if self._span is not None:
            first, last = int(np.searchsorted(packet.t, self._span.start)), packet.t.size
            if self._span.end is not None:
                last = int(np.searchsorted(packet.t, self._span.end))
                self.is_done = last < packet.t.size
            packet = packet.part(slice(first, last))
        if self._cut.roi is not None:
            packet = _in_region(packet, self._cut.roi)
        self._n_kept += packet.t.size
        return packet

    def share(self) -> float | None:
        """Return the share of the duration that was read, 0 to 1; None if it is unknown."""
        if self._t_last is None or self._span is None or self._span.end is None:
            return None
        share = (self._t_last - self._span.start) / (self._span.end - self._span.start)
        return min(max(share, 0.0), 1.0)

    def finish(self, path: Path) -> None:
        """Raise if the cut starts after the last event; warn if it has no events."""
        if self._n_kept or self._t_last is None:
            return
        if self._t_first is not None and self._span is not None and self._t_last < self._span.start:
            raise EventDataError(
                f"of {self._cut.start_us / 1e6:g} s lies after the last event: {path} ends "
                f"{(self._t_last - self._t_first) / 1e6:g} s after its first event",
                parameter="start_us",
            )
        logger.warning("%s: there are no events in the part that was chosen.", path)


def _in_region(packet: Packet, roi: Box) -> Packet:
    # Positions before the region wrap around to large numbers.
    x, y = packet.x - np.uint16(roi.left), packet.y - np.uint16(roi.top)
    inside = (x < roi.width) & (y < roi.height)
    signal = None if packet.signal is None else packet.signal[inside]
    return Packet(x[inside], y[inside], packet.t[inside], packet.p[inside], packet.offset, signal)


def samples_within(samples: S | None, span: TimeSpan | None) -> S | None:
    """Return the IMU samples or triggers of a span of time."""
    if samples is None or span is None:
        return samples
    inside: Bools = span.has(samples.t)
    columns = {field.name: getattr(samples, field.name) for field in fields(samples)}
    return replace(
        samples,
        **{name: column[inside] for name, column in columns.items() if column is not None},
    )


def cropped_frame(frame: Frame, roi: Box) -> Frame | None:
    """Return the part of a frame in a region, at its place there; None if there is none.

    >>> cropped_frame(Frame(t=0, image=np.zeros((60, 80))), Box(70, 0, 20, 30))
    Frame(t=0 us, 10x30 float64)
    """
    (x, y), (height, width) = frame.position, frame.image.shape[:2]
    left, top = max(roi.left - x, 0), max(roi.top - y, 0)
    right, bottom = min(roi.left + roi.width - x, width), min(roi.top + roi.height - y, height)
    if left >= right or top >= bottom:
        return None
    image = np.ascontiguousarray(frame.image[top:bottom, left:right])
    return replace(frame, image=image, position=(x + left - roi.left, y + top - roi.top))
