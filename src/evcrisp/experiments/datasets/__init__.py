"""The data sets of the paper: which files belong to them, and what is missing."""

import logging
from pathlib import Path

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.experiments.datasets.dnd21 import Dnd21
from evcrisp.experiments.datasets.ecd import Ecd
from evcrisp.experiments.datasets.emlb import Emlb
from evcrisp.experiments.datasets.protocol import Clip, Dataset, Layout

__all__ = ["DATASETS", "Clip", "Dataset", "Layout", "find_clips"]

logger = logging.getLogger(__name__)

#: Data sets by name.
DATASETS: dict[str, Dataset] = {kind.name: kind for kind in (Emlb(), Dnd21(), Ecd())}


def find_clips(name: str, root: Path) -> tuple[Clip, ...]:
    """Return the recordings of a data set; parts that are missing are said and left out.

    Raises
    ------
    ConfigError
        If there is not one recording, with what is missing and where to get it.
    """
    dataset = lookup(DATASETS, name, "data set")
    if not root.is_dir():
        raise ConfigError(f"{root} is not a folder. Get {dataset.title} from {dataset.source}.")
    found = dataset.layout(root)
    if not found.clips:
        problems = "; ".join(found.problems) or "it is empty"
        raise ConfigError(
            f"{root} does not hold {dataset.title}: {problems}. Get it from {dataset.source}."
        )
    for problem in found.problems:
        logger.warning("%s: %s.", dataset.title, problem)
    return found.clips
