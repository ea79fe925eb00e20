"""Check events from outside: on the sensor, in the order of time, one clock."""

import logging

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.sensor_data import shifted
from evcrisp.io.protocol import Columns
from evcrisp.streaming.protocol import SourceCounts
from evcrisp.streaming.sensor_data import SensorData, first_time, kind_of

logger = logging.getLogger(__name__)

#: A step back in time by more than this is a clock that started over, not a late packet, us.
_RESTART_US = 1_000_000


class CheckedStream:
    """Turns columns into events, with the counts of packets that are skipped."""

    def __init__(self, resolution: tuple[int, int], counts: SourceCounts) -> None:
        self.resolution, self.counts = resolution, counts
        self._t_last: int | None = None
        self._offset_us = 0
        self._is_new = False
        self._sensor_t_last: dict[str, int] = {}  # by kind

    def reconnected(self) -> None:
        """Take the next step back in time for a new clock, however short it is."""
        self._is_new = True

    def accept(self, columns: Columns) -> Events | None:
        """Return the events of a packet; None for an empty or damaged one."""
        x, y, t, p = columns
        if not t.size:
            return None
        if problem := self._problem(columns):
            self.skip(problem)
            return None
        first = int(t[0]) + self._offset_us
        if self._t_last is not None and first < self._t_last:
            if self._t_last - first <= _RESTART_US and not self._is_new:
                self.skip(f"a packet starts {self._t_last - first} us before the end of another")
                return None
            self._restart(int(t[0]))
        t = t + self._offset_us if self._offset_us else t
        self._t_last = int(t[-1])
        self._is_new = False
        return Events.trusted(x, y, t, p, self.resolution)

    def accept_sensor_data(self, data: SensorData) -> SensorData | None:
        """Return sensor data in the clock of the events; None, and counted, if times decrease."""
        kind = kind_of(data)
        times = np.atleast_1d(np.asarray(data.t, np.int64))
        last = self._sensor_t_last.get(kind)
        bound = np.iinfo(np.int64).max // 2
        if (times[1:] < times[:-1]).any() or not 0 <= times[0] <= times[-1] <= bound:
            self.skip(f"times of {kind} decrease or are impossible")
            return None
        data = shifted(data, self._offset_us)
        if last is not None and first_time(data) < last:
            self.skip(f"{kind} come back in time")
            return None
        self._sensor_t_last[kind] = int(times[-1]) + self._offset_us
        return data

    def skip(self, problem: str) -> None:
        """Count a damaged packet; the first one is reported."""
        self.counts.n_damaged += 1
        if self.counts.n_damaged == 1:
            logger.warning("A damaged packet is skipped: %s. Others are counted only.", problem)

    def _problem(self, columns: Columns) -> str | None:
        x, y, t, _ = columns
        width, height = self.resolution
        if x.max() >= width or y.max() >= height:
            return (
                f"an event at ({x.max()}, {y.max()}) is outside the sensor of {width}x{height} px"
            )
        if (t[1:] < t[:-1]).any():
            return "its times decrease"
        if t[0] < 0 or t[-1] > np.iinfo(np.int64).max // 2:
            return f"its times, {t[0]} to {t[-1]} us, are impossible"
        return None

    def _restart(self, t_first: int) -> None:
        self.counts.n_clock_restarts += 1
        last = self._t_last or 0
        self._offset_us = last - t_first
        logger.warning(
            "The clock of the source started over at %d us; its times continue after %d us.",
            t_first,
            last,
        )
