"""What all twins share: labels beside a recording, and a file that says what the folder is."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from evcrisp.core.errors import OutputError
from evcrisp.core.events import Events
from evcrisp.io.atomic_output import replacing
from evcrisp.simulation import Simulation

#: The file that makes a folder a twin; written last.
MARK = "twin.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """What a simulated data set is, and with what settings its tables make sense.

    Parameters
    ----------
    dataset : str
        The data set that it stands for.
    small : bool
        Made for tests.
    seed : int
        Same seed, same bytes.
    slice_events, window_events : int
        Slices of the ESR and windows of the motion. Small sensors need fewer events than the real
        ones for as many per pixel.
    """

    dataset: str
    small: bool
    seed: int
    slice_events: int = 30_000
    window_events: int = 30_000


def read_mark(folder: Path) -> Twin | None:
    """Return what a folder is a twin of; None if it is none."""
    path = folder / MARK
    return Twin(**json.loads(path.read_text())) if path.is_file() else None


def write_mark(folder: Path, twin: Twin) -> None:
    """Say that the folder is complete."""
    with replacing(folder / MARK, overwrite=True) as temporary:
        temporary.write_text(json.dumps(asdict(twin), indent=2) + "\n")


def write_truth(path: Path, events: Events) -> None:
    """Put the true labels beside a recording, as ``NAME.truth.npz`` with the array ``signal``."""
    if events.signal is None:
        raise OutputError(f"{path} has no labels to keep.")
    with replacing(path.with_name(f"{path.stem}.truth.npz"), overwrite=True) as temporary:
        np.savez_compressed(temporary, signal=events.signal)


def unlabeled(scene: Simulation) -> Events:
    """Return the events as a camera gives them."""
    return scene.events.with_signal(None)
