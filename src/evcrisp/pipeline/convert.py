"""A recording whose time starts at zero, with everything that comes beside its events."""

from collections.abc import Iterator
from dataclasses import replace

from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.recording import Recording


class FromZero:
    """Shifts time so that the first event is at 0; what came before it gets times below 0.

    How far to shift is known when the first events were read, so they come first. Without events,
    nothing is shifted.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._t_zero: int | None = None

    def chunks(self) -> Iterator[Events]:
        """Yield the events, at least one chunk."""
        for chunk in self._recording.chunks():
            if len(chunk):
                self._t_zero = int(chunk.t[0]) if self._t_zero is None else self._t_zero
                t = chunk.t - self._t_zero
                yield Events.trusted(chunk.x, chunk.y, t, chunk.p, chunk.resolution, chunk.signal)
        if self._t_zero is None:
            yield Events.empty(self._recording.resolution)

    def imu(self) -> Imu | None:
        """Return the IMU samples."""
        imu = self._recording.imu()
        return None if imu is None else replace(imu, t=imu.t - self._shift)

    def triggers(self) -> Triggers | None:
        """Return the triggers."""
        triggers = self._recording.triggers()
        return None if triggers is None else replace(triggers, t=triggers.t - self._shift)

    def frames(self) -> Iterator[Frame]:
        """Yield the frames."""
        for frame in self._recording.frames():
            start, end = frame.exposure_start, frame.exposure_end
            yield replace(
                frame,
                t=frame.t - self._shift,
                exposure_start=None if start is None else start - self._shift,
                exposure_end=None if end is None else end - self._shift,
            )

    @property
    def _shift(self) -> int:
        return self._t_zero or 0
