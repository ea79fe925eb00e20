"""LED: slices of real recordings, divided into signal and noise."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.experiments.datasets.sample import Limits, Sample

#: Size of the sensor, px; the events of a recording may fill 1200 x 680 of it.
SENSOR = (1280, 720)

RAW, SIGNAL, NOISE = "raw_events", "denoise_events", "noise_events"


@dataclass(frozen=True, slots=True)
class Led:
    """``raw_events``, ``denoise_events`` and ``noise_events``, in each ``SCENE/00031.npy``.

    A slice of 10 ms is an array of shape (4, n): x, y, p, t in us. The events of the signal and of
    the noise are merged; those that are raw only belong to neither, and are left out.
    """

    name: ClassVar[str] = "led"
    title: ClassVar[str] = "LED"
    source: ClassVar[str] = "the README of the project Yee-Sing/led on GitHub"

    def layout(self, root: Path) -> Layout:
        """Find the scenes that have slices of signal and of noise."""
        clips = []
        for folder in sorted(path for path in (root / SIGNAL).glob("*") if path.is_dir()):
            signal = {path.name: path for path in sorted(folder.glob("*.npy"))}
            noise = {name: root / NOISE / folder.name / name for name in signal}
            pairs = [(signal[name], noise[name]) for name in signal if noise[name].is_file()]
            if pairs:
                files = tuple(path for pair in pairs for path in pair)
                clips.append(
                    Clip(
                        name=folder.name,
                        path=folder,
                        group=("LED",),
                        files=files,
                        resolution=SENSOR,
                        reader=read_led,
                    )
                )
        missing = [name for name in (RAW, SIGNAL, NOISE) if not (root / name).is_dir()]
        problems = [f"the folder {name} is missing" for name in missing]
        return Layout(clips=tuple(clips), problems=tuple(problems))


def read_led(clip: Clip, limits: Limits) -> Sample:
    """Read the first slices of a scene, with labels."""
    parts: list[Events] = []
    for signal, noise in zip(clip.files[::2], clip.files[1::2], strict=True):
        parts += [_slice(signal, True), _slice(noise, False)]
        n_events = sum(len(part) for part in parts)
        if limits.max_events is not None and n_events >= limits.max_events:
            break
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in "xytp"}
    signal_of = np.concatenate([np.asarray(part.signal) for part in parts])
    events = Events.sorted_from(**columns, resolution=SENSOR, signal=signal_of)
    return Sample(events=limits.of(events))


def _slice(path: Path, is_signal: bool) -> Events:
    try:
        table = np.load(path, allow_pickle=False)
    except (ValueError, OSError) as error:
        raise FormatError(f"not an array ({error})", path=path) from error
    if table.ndim != 2 or table.shape[0] != 4:
        raise FormatError(f"expected an array of shape (4, n); got {table.shape}", path=path)
    x, y, p, t = (row.astype(np.int64) for row in table)
    labels = np.full(t.size, is_signal)
    return Events.sorted_from(x=x, y=y, t=t, p=p > 0, resolution=SENSOR, signal=labels)
