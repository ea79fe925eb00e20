"""Summarize a recording in one pass: counts, times and sensor data."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from evcrisp.core.events import Events
from evcrisp.io.recording import Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Facts of a recording; times are None if it has no events."""

    path: str
    format: str
    width: int
    height: int
    resolution_source: str  # "file", "given" or "guessed"
    n_events: int
    t_first_us: int | None
    t_last_us: int | None
    duration_s: float
    n_on: int
    n_off: int
    n_signal: int | None  # labeled as signal; None without labels
    rate_hz: float  # events per second
    imu_samples: int
    triggers: int
    frames: int
    damage: str | None  # the error that ended the read early, with on_error="truncate"
    metadata: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return the facts as JSON types."""
        return asdict(self)


def summarize(recording: Recording, on_chunk: Callable[[Events], None] | None = None) -> Summary:
    """Read a recording once, in bounded memory; ``on_chunk`` gets each chunk, for progress."""
    n_events = n_on = n_signal = 0
    is_labeled = False
    t_first: int | None = None
    t_last: int | None = None
    for chunk in recording.chunks():
        if len(chunk):
            t_first = int(chunk.t[0]) if t_first is None else t_first
            t_last = int(chunk.t[-1])
        n_events += len(chunk)
        n_on += chunk.n_on
        if chunk.signal is not None:
            is_labeled = True
            n_signal += int(chunk.signal.sum())
        if on_chunk is not None:
            on_chunk(chunk)
    duration_s = 0.0 if t_first is None or t_last is None else (t_last - t_first) / 1e6
    imu, triggers = recording.imu(), recording.triggers()
    n_frames = sum(1 for _ in recording.frames())
    width, height = recording.resolution
    damage = recording.damage
    return Summary(
        path=str(recording.path),
        format=recording.format,
        width=width,
        height=height,
        resolution_source=recording.resolution_source,
        n_events=n_events,
        t_first_us=t_first,
        t_last_us=t_last,
        duration_s=duration_s,
        n_on=n_on,
        n_off=n_events - n_on,
        n_signal=n_signal if is_labeled else None,
        rate_hz=n_events / duration_s if duration_s else 0.0,
        imu_samples=0 if imu is None else len(imu),
        triggers=0 if triggers is None else len(triggers),
        frames=n_frames,
        damage=None if damage is None else damage.kept(),
        metadata=recording.metadata,
    )
