"""Interface of a data set: its recordings, and their groups in the tables."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One recording of a data set."""

    name: str  # unique, such as "D-END/nd04/Bicycle-ND04-1"
    path: Path  # for `evcrisp.open`
    group: tuple[str, ...]  # columns of the tables, such as ("day", "ND4")
    files: tuple[Path, ...]  # files whose contents affect the results
    resolution: tuple[int, int] | None = None  # px; if the files do not state it


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Recordings that were found, and problems such as missing parts."""

    clips: tuple[Clip, ...]
    problems: tuple[str, ...] = ()


class Dataset(Protocol):
    """A data set; :func:`find_clips` takes its name, class or object."""

    name: str  # on the command line
    title: str  # in messages
    source: str  # where to get it

    def layout(self, root: Path) -> Layout:
        """Search a folder for recordings, without opening them."""
        ...
