"""Data sets: the files of each, and missing parts."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import Registry, lookup

if TYPE_CHECKING:
    from evcrisp.experiments.datasets.sample import SampleReader

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One recording of a data set."""

    name: str  # unique, such as "D-END/nd04/Bicycle-ND04-1"
    path: Path  # for `evcrisp.open`
    group: tuple[str, ...]  # columns of the tables, such as ("day", "ND4")
    files: tuple[Path, ...]  # files whose contents affect the results
    resolution: tuple[int, int] | None = None  # px; if the files do not state it
    reader: "SampleReader | None" = None  # reads events and truth; `read_plain` by default


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Recordings that were found, and problems such as missing parts."""

    clips: tuple[Clip, ...]
    problems: tuple[str, ...] = ()
    beside: tuple[Path, ...] = ()  # files of the data set that are no recordings to measure


class Dataset(Protocol):
    """A data set; :func:`find_clips` takes its name, class or object."""

    name: str  # on the command line
    title: str  # in messages
    source: str  # where to get it

    def layout(self, root: Path) -> Layout:
        """Search a folder for recordings, without opening them."""
        ...


#: Data sets by name.
DATASETS: Registry[Dataset] = Registry(
    "data set",
    {
        "emlb": "evcrisp.experiments.datasets.emlb:Emlb",
        "dnd21": "evcrisp.experiments.datasets.dnd21:Dnd21",
        "ecd": "evcrisp.experiments.datasets.ecd:Ecd",
        "remot": "evcrisp.experiments.datasets.remot:Remot",
        "dvsflow16": "evcrisp.experiments.datasets.dvsflow16:Dvsflow16",
        "dvsclean": "evcrisp.experiments.datasets.dvsclean:Dvsclean",
        "ed24": "evcrisp.experiments.datasets.ed24:Ed24",
        "led": "evcrisp.experiments.datasets.led:Led",
        "mvsec": "evcrisp.experiments.datasets.mvsec:Mvsec",
        "dsec": "evcrisp.experiments.datasets.dsec:Dsec",
        "recordings": "evcrisp.experiments.datasets.recordings:Recordings",
    },
    group="evcrisp.datasets",
    calls=True,
)

#: Name, class or object of a data set.
DatasetLike = str | type[Dataset] | Dataset


def dataset_for(part: DatasetLike) -> Dataset:
    """Return a data set by name, class or object."""
    part = lookup(DATASETS, part, "data set") if isinstance(part, str) else part
    return part() if isinstance(part, type) else part


def find_clips(dataset: DatasetLike, root: Path) -> tuple[Clip, ...]:
    """Return the recordings of a data set; log a warning for each missing part.

    Raises
    ------
    ConfigError
        If there is no recording, with the missing parts and the source of the data set.
    """
    source = dataset_for(dataset)
    if not root.is_dir():
        raise ConfigError(f"{root} is not a folder. Get {source.title} from {source.source}.")
    found = source.layout(root)
    if not found.clips:
        problems = "; ".join(found.problems) or "it is empty"
        raise ConfigError(
            f"{root} does not hold {source.title}: {problems}. Get it from {source.source}."
        )
    for problem in found.problems:
        logger.warning("%s: %s.", source.title, problem)
    return found.clips
