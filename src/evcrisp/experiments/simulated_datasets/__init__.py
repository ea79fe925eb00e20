"""Simulated data sets in the layout of the real ones, with the truth beside them."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from evcrisp.core.errors import ConfigError, OutputError
from evcrisp.core.registry import lookup
from evcrisp.experiments.datasets import DATASETS
from evcrisp.experiments.simulated_datasets.dnd21 import write_dnd21
from evcrisp.experiments.simulated_datasets.ecd import write_ecd
from evcrisp.experiments.simulated_datasets.emlb import write_emlb
from evcrisp.experiments.simulated_datasets.writing import Twin, read_mark, write_mark

__all__ = ["TWINS", "Twin", "make_twin", "read_mark", "twin_of"]

logger = logging.getLogger(__name__)

#: Data set -> how its twin is written, file by file.
TWINS: dict[str, Callable[[Path, Twin], Iterator[Path]]] = {
    "emlb": write_emlb,
    "dnd21": write_dnd21,
    "ecd": write_ecd,
}

#: Slices and windows of small twins.
_SMALL = {
    "emlb": {"slice_events": 3_000},
    "dnd21": {"slice_events": 10_000},
    "ecd": {"window_events": 5_000},
}


def make_twin(
    dataset: str,
    folder: Path,
    *,
    small: bool = False,
    seed: int = 0,
    on_file: Callable[[Path], None] | None = None,
) -> Twin:
    """Write a simulated data set in the layout of the real one.

    Labels (signal or noise) of a recording are in ``NAME.truth.npz`` beside it. A folder that holds
    this very twin already is left as it is; one that was left incomplete is completed.

    Parameters
    ----------
    dataset : str
        One of the keys of ``TWINS``.
    folder : Path
        Made if it does not exist.
    small : bool
        Seconds instead of minutes of work for the tables, for tests.
    seed : int
        Same seed, same bytes.
    on_file : callable, optional
        Called with every file, or folder of a sequence, that was written.

    Returns
    -------
    Twin
        What was written, with the settings that go with it.
    """
    write = lookup(TWINS, dataset, "data set")
    twin = Twin(dataset=dataset, small=small, seed=seed)
    if small:
        twin = replace(twin, **_SMALL[dataset])
    there = read_mark(folder)
    if there == twin:
        return twin
    if there is not None or (folder.is_dir() and _has_strangers(folder)):
        held = "another twin" if there is not None else "other files"
        raise OutputError(f"{folder} holds {held}. Choose an empty or a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _BEGUN).touch()
    for path in write(folder, twin):
        if on_file is not None:
            on_file(path)
    write_mark(folder, twin)
    (folder / _BEGUN).unlink(missing_ok=True)  # somebody else may have completed it, too
    return twin


def twin_of(dataset: str, folder: Path) -> Twin | None:
    """Return the twin of a data set that a folder is; None if it is none.

    Raises
    ------
    ConfigError
        If it is the twin of another data set.
    """
    twin = read_mark(folder)
    if twin is not None and twin.dataset != dataset:
        wanted, given = (lookup(DATASETS, name, "data set") for name in (dataset, twin.dataset))
        raise ConfigError(
            f"{folder} is the simulated twin of {given.title}; expected {wanted.title}. Make its "
            f"twin with `evcrisp datasets make-twin {dataset} FOLDER`."
        )
    return twin


#: The file of a twin that is not complete yet.
_BEGUN = ".twin-begun"


def _has_strangers(folder: Path) -> bool:
    return any(folder.iterdir()) and not (folder / _BEGUN).is_file()
