"""Summarize a recording in one pass: counts, times and sensor data."""

from collections.abc import Callable
from typing import Any

from evcrisp.core.events import Events
from evcrisp.io.recording import Recording


def summarize(
    recording: Recording, on_chunk: Callable[[Events], None] | None = None
) -> dict[str, Any]:
    """Read a recording once, in bounded memory, and return its facts as JSON types.

    Times are None without events, `n_signal` without labels. ``on_chunk`` gets each chunk, for
    progress.
    """
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
    return {
        "path": str(recording.path),
        "format": recording.format,
        "width": width,
        "height": height,
        "resolution_source": recording.resolution_source,
        "n_events": n_events,
        "t_first_us": t_first,
        "t_last_us": t_last,
        "duration_s": duration_s,
        "n_on": n_on,
        "n_off": n_events - n_on,
        "n_signal": n_signal if is_labeled else None,
        "rate_hz": n_events / duration_s if duration_s else 0.0,
        "imu_samples": 0 if imu is None else len(imu),
        "triggers": 0 if triggers is None else len(triggers),
        "frames": n_frames,
        "damage": None if damage is None else damage.kept(),
        "metadata": recording.metadata,
    }
