"""Parts that all simulated data sets share: their parameters, and true labels."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evcrisp.core.errors import OutputError
from evcrisp.core.events import Events
from evcrisp.io.atomic_output import replacing


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedDataset:
    """Parameters of a simulated data set, and the settings of its tables."""

    dataset: str  # data set whose layout it has
    small: bool
    seed: int
    slice_events: int = 30_000  # events of a slice of the ESR
    window_events: int = 30_000  # events of a window for motion


def write_true_labels(path: Path, events: Events) -> None:
    """Write ``NAME.truth.npz`` with the array ``signal`` beside a recording."""
    if events.signal is None:
        raise OutputError(f"{path} has no labels to write.")
    with replacing(path.with_name(f"{path.stem}.truth.npz"), overwrite=True) as temporary:
        np.savez_compressed(temporary, signal=events.signal)
