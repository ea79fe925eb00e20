"""Simulated recordings with labels, and a file format for them."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Bytes, Floats
from evcrisp.core.validation import check_number
from evcrisp.filters.learned.weights import read_archive

MAX_EVENTS = 120_000  # per recording, so that dense scenes do not dominate the data
MAX_SCENES = 10_000  # per seed; scene numbers of the next seed follow
TRAINING = 0.0  # noise level that marks a training recording


@dataclass(frozen=True, slots=True, eq=False)
class LabeledRecordings:
    """Recordings with labels: for training, and held out at known noise levels."""

    events: tuple[Events, ...]  # each with `signal`
    level_hz: Floats  # (n,) noise of held-out recordings, Hz per pixel; 0 = training
    seed: int

    def __len__(self) -> int:
        return len(self.events)

    def subset(self, which: Bools) -> "LabeledRecordings":
        """Return some of the recordings."""
        chosen = tuple(self.events[int(i)] for i in np.flatnonzero(which))
        return LabeledRecordings(chosen, self.level_hz[which], self.seed)

    @property
    def training(self) -> "LabeledRecordings":
        """The training recordings."""
        return self.subset(self.level_hz == TRAINING)

    @property
    def held_out(self) -> "LabeledRecordings":
        """The held-out recordings."""
        return self.subset(self.level_hz != TRAINING)

    def save(self, path: Path) -> None:
        """Write a file of about four bytes per event."""
        steps = np.concatenate([np.diff(part.t, prepend=0) for part in self.events])
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                x=np.concatenate([part.x for part in self.events]).astype(np.uint8),
                y=np.concatenate([part.y for part in self.events]).astype(np.uint8),
                step=steps.astype(np.uint32),
                flags=np.concatenate([part.p + 2 * _labels(part) for part in self.events]),
                count=np.array([len(part) for part in self.events]),
                resolution=np.array([part.resolution for part in self.events]),
                level_hz=self.level_hz,
                seed=np.array(self.seed),
            )

    @classmethod
    def load(cls, path: Path) -> "LabeledRecordings":
        """Read a file of :meth:`save`."""
        file = read_archive(path, "training recordings")
        try:
            return cls._unpacked(file)
        except (KeyError, ValueError, TypeError) as error:
            raise FormatError(f"not a file of training recordings ({error})", path=path) from error

    @classmethod
    def _unpacked(cls, file: dict[str, NDArray[Any]]) -> "LabeledRecordings":
        ends = np.cumsum(file["count"])
        events = []
        for end, count, size in zip(ends, file["count"], file["resolution"], strict=True):
            part = slice(end - count, end)
            x, y = (file[name][part].astype(np.uint16) for name in "xy")
            t = np.cumsum(file["step"][part], dtype=np.int64)
            p, signal = ((file["flags"][part] >> bit & 1).astype(np.bool_) for bit in (0, 1))
            events.append(Events(x=x, y=y, t=t, p=p, resolution=size.tolist(), signal=signal))
        return cls(tuple(events), file["level_hz"], int(file["seed"]))


def simulate_recordings(
    n_scenes: int,
    *,
    seed: int = 0,
    n_test: int = 4,
    workers: int = 1,
    on_scene: Callable[[int, int], None] | None = None,
) -> LabeledRecordings:
    """Simulate recordings for training, and held-out recordings.

    Parameters
    ----------
    n_scenes, n_test : int
        Number of training scenes, and of held-out scenes per noise level.
    seed, workers : int
        Seed of the scenes, none in common with other seeds; processes, without effect on them.
    on_scene : callable, optional
        Called with the number of finished scenes and of all scenes.
    """
    from evcrisp.training.scenes import TEST_LEVELS_HZ, TEST_SEEDS

    check_number("seed", seed, 0, TEST_SEEDS // MAX_SCENES - 1)
    for name, value in (("n_scenes", n_scenes), ("n_test", n_test), ("workers", workers)):
        check_number(name, value, 1, MAX_SCENES)
    levels = [TRAINING] * n_scenes + [level for level in TEST_LEVELS_HZ for _ in range(n_test)]
    # Held-out scenes are numbered from 0, so they do not depend on the number of training scenes.
    numbers = [*range(n_scenes), *range(len(levels) - n_scenes)]
    scenes = [MAX_SCENES * seed + number for number in numbers]
    events = []
    for recording in _simulate(scenes, levels, workers):
        events.append(recording)
        if on_scene is not None:
            on_scene(len(events), len(levels))
    return LabeledRecordings(tuple(events), np.array(levels), seed)


def _simulate(scenes: list[int], levels: list[float], workers: int) -> Iterator[Events]:
    if workers == 1:
        yield from map(_simulate_scene, scenes, levels)
        return
    # Forked processes would inherit locks of the threads of torch and numba.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(_simulate_scene, scenes, levels, chunksize=4)


def _simulate_scene(scene: int, level_hz: float) -> Events:
    from evcrisp.simulation import simulate
    from evcrisp.training.scenes import held_out_scene, training_scene

    held_out = level_hz != TRAINING
    config = held_out_scene(scene, level_hz) if held_out else training_scene(scene)
    return simulate(config).events[:MAX_EVENTS]


def _labels(events: Events) -> Bytes:
    if events.signal is None:
        raise ConfigError("`events` must have labels (`signal`); got a recording without labels.")
    return events.signal.view(np.uint8)
