"""Simulated data sets with the layout of public ones, and true labels beside the recordings."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from evcrisp.core.errors import ConfigError, OutputError
from evcrisp.core.events import Events
from evcrisp.core.registry import Registry, lookup
from evcrisp.experiments.datasets import DatasetLike, dataset_for
from evcrisp.io.atomic_output import replacing


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedDataset:
    """Parameters of a simulated data set, and the settings of its tables."""

    dataset: str  # data set whose layout it has
    small: bool
    seed: int
    slice_events: int = 30_000  # events of a slice of the ESR
    window_events: int = 30_000  # events of a window for motion


#: Data set -> function that writes its simulation, file by file.
WRITERS: Registry[Callable[[Path, SimulatedDataset], Iterator[Path]]] = Registry(
    "data set", {name: f"{__name__}.{name}:write_{name}" for name in ("emlb", "dnd21", "ecd")}
)

#: Slices and windows of small data sets, in events: fewer, for as many events per pixel.
_SMALL = {
    "emlb": {"slice_events": 3_000},
    "dnd21": {"slice_events": 10_000},
    "ecd": {"window_events": 5_000},
}

#: File with the parameters of a data set, written last; and file in the folder of an incomplete one.
_MARKER, _INCOMPLETE = "twin.json", ".twin-begun"


def simulate_dataset(
    dataset: str,
    folder: Path,
    *,
    small: bool = False,
    seed: int = 0,
    on_file: Callable[[Path], None] | None = None,
) -> SimulatedDataset:
    """Write a simulated data set with the layout of the real one.

    True labels of a recording are in ``NAME.truth.npz`` beside it. A complete data set with the
    same parameters is left unchanged; an incomplete one is completed.

    Parameters
    ----------
    dataset : str
        One of the keys of ``WRITERS``.
    folder : Path
        Created if needed.
    small, seed : bool, int
        Write less data, for tests; equal seeds give equal bytes.
    on_file : callable, optional
        Called with every written file, or folder of a sequence.
    """
    write = lookup(WRITERS, dataset, "data set")
    simulated = SimulatedDataset(dataset=dataset, small=small, seed=seed)
    if small:
        simulated = replace(simulated, **_SMALL[dataset])
    present = read_marker(folder)
    if present == simulated:
        return simulated
    is_filled = folder.is_dir() and any(folder.iterdir())
    if present is not None or (is_filled and not (folder / _INCOMPLETE).is_file()):
        held = "another simulated data set" if present is not None else "other files"
        raise OutputError(f"{folder} holds {held}. Choose an empty or a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _INCOMPLETE).touch()
    for path in write(folder, simulated):
        if on_file is not None:
            on_file(path)
    with replacing(folder / _MARKER, overwrite=True) as temporary:
        temporary.write_text(json.dumps(asdict(simulated), indent=2) + "\n")
    (folder / _INCOMPLETE).unlink(missing_ok=True)  # another process can have completed it
    return simulated


def read_marker(folder: Path) -> SimulatedDataset | None:
    """Return the parameters of the simulated data set in a folder, or None."""
    path = folder / _MARKER
    return SimulatedDataset(**json.loads(path.read_text())) if path.is_file() else None


def read_simulated(dataset: DatasetLike, folder: Path) -> SimulatedDataset | None:
    """Return the simulated data set in a folder, or None; raise if it simulates another one."""
    simulated, expected = read_marker(folder), dataset_for(dataset)
    if simulated is not None and simulated.dataset != expected.name:
        given = dataset_for(simulated.dataset)
        raise ConfigError(
            f"{folder} is a simulated {given.title}; expected {expected.title}. Simulate it with "
            f"`evcrisp datasets simulate {expected.name} FOLDER`."
        )
    return simulated


def write_true_labels(path: Path, events: Events) -> None:
    """Write ``NAME.truth.npz`` with the array ``signal`` beside a recording."""
    if events.signal is None:
        raise OutputError(f"{path} has no labels to write.")
    with replacing(path.with_name(f"{path.stem}.truth.npz"), overwrite=True) as temporary:
        np.savez_compressed(temporary, signal=events.signal)
