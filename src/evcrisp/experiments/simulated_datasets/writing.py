"""Parts that all simulated data sets share: true labels, and the marker of the folder."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from evcrisp.core.errors import OutputError
from evcrisp.core.events import Events
from evcrisp.io.atomic_output import replacing
from evcrisp.simulation import Simulation

#: File with the parameters of a simulated data set; written last.
MARKER = "twin.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedDataset:
    """Parameters of a simulated data set, and the settings of its tables."""

    dataset: str  # data set whose layout it has
    small: bool
    seed: int
    slice_events: int = 30_000  # events of a slice of the ESR
    window_events: int = 30_000  # events of a window for motion


def read_marker(folder: Path) -> SimulatedDataset | None:
    """Return the parameters of the simulated data set in a folder, or None."""
    path = folder / MARKER
    return SimulatedDataset(**json.loads(path.read_text())) if path.is_file() else None


def write_marker(folder: Path, simulated: SimulatedDataset) -> None:
    """Mark the data set of a folder as complete."""
    with replacing(folder / MARKER, overwrite=True) as temporary:
        temporary.write_text(json.dumps(asdict(simulated), indent=2) + "\n")


def write_true_labels(path: Path, events: Events) -> None:
    """Write ``NAME.truth.npz`` with the array ``signal`` beside a recording."""
    if events.signal is None:
        raise OutputError(f"{path} has no labels to write.")
    with replacing(path.with_name(f"{path.stem}.truth.npz"), overwrite=True) as temporary:
        np.savez_compressed(temporary, signal=events.signal)


def unlabeled(scene: Simulation) -> Events:
    """Return the events without labels."""
    return scene.events.with_signal(None)
