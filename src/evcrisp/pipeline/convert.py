"""Convert a recording to another format, optionally with time from zero."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Frame, Imu, Triggers, shifted
from evcrisp.io.atomic_output import refuse_inputs
from evcrisp.io.protocol import Writer
from evcrisp.io.reading import opened
from evcrisp.io.recording import Recording
from evcrisp.io.writing import write


@dataclass(frozen=True, slots=True)
class Conversion:
    """Result of a conversion: the file, and its number of events."""

    path: Path
    n_events: int


def convert_recording(
    source: str | PathLike[str] | Recording,
    target: str | PathLike[str],
    *,
    format: str | Writer | None = None,
    start_at_zero: bool = False,
    overwrite: bool = False,
    on_chunk: Callable[[Events], None] | None = None,
    options: Mapping[str, object] | None = None,
    **named_options: object,
) -> Conversion:
    """Convert a recording to another format, in bounded memory.

    Parameters
    ----------
    source : path or Recording
        The input. Sensor data and labels are kept if the output format can hold them.
    target : path
        The output. It appears when it is complete.
    format : str or Writer, optional
        Output format. Default: from the suffix of ``target``.
    start_at_zero, overwrite : bool
        Shift time so that the first event is at 0; replace an existing output, except the input.
    on_chunk : callable, optional
        Called with every chunk that was written, for progress.
    options, **named_options
        Options of the output format, such as ``compression``, as a mapping or by name.

    Examples
    --------
    >>> import tempfile
    >>> events = Events(x=[3, 4], y=[1, 1], t=[700, 710], p=[1, 0], resolution=(8, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write(f"{folder}/a.npz", events)
    ...     result = convert_recording(f"{folder}/a.npz", f"{folder}/a.es", start_at_zero=True)
    >>> result.n_events
    2
    """
    target = Path(target)
    with opened(source) as recording:
        refuse_inputs(target, recording.path)
        shifted = _ShiftedToZero(recording) if start_at_zero else None
        n_events = write(
            target,
            recording if shifted is None else shifted.chunks(),
            format=format,
            overwrite=overwrite,
            sensor_data_from=shifted,
            on_chunk=on_chunk,
            options={**(options or {}), **named_options},
        )
    return Conversion(target, n_events)


class _ShiftedToZero:
    """A recording with time relative to its first event; its events must be read first.

    Earlier sensor data get negative times. Without events the shift is 0.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._t_zero: int | None = None

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Facts of the recording; differences of its clocks do not change."""
        return self._recording.metadata

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
        imu = self._recording.imu()
        return None if imu is None else shifted(imu, -self._shift)

    def triggers(self) -> Triggers | None:
        triggers = self._recording.triggers()
        return None if triggers is None else shifted(triggers, -self._shift)

    def frames(self) -> Iterator[Frame]:
        for frame in self._recording.frames():
            yield shifted(frame, -self._shift)

    @property
    def _shift(self) -> int:
        return self._t_zero or 0
