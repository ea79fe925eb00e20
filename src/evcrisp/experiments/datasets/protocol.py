"""Interface of a data set: its recordings, and their groups in the tables."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One recording of a data set.

    Parameters
    ----------
    name : str
        Unique name, such as ``D-END/nd04/Bicycle-ND04-1``.
    path : Path
        Path for :func:`evcrisp.open`.
    group : tuple of str
        Group of columns and column in the tables, such as ``("day", "ND4")``.
    files : tuple of Path
        Files whose contents affect the results.
    resolution : (int, int), px, optional
        Size of the sensor if the files do not state it.
    """

    name: str
    path: Path
    group: tuple[str, ...]
    files: tuple[Path, ...]
    resolution: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Recordings that were found, and problems such as missing parts."""

    clips: tuple[Clip, ...]
    problems: tuple[str, ...] = ()


class Dataset(Protocol):
    """A data set; :func:`find_clips` takes its name, class or object."""

    @property
    def name(self) -> str:
        """Name on the command line."""
        ...

    @property
    def title(self) -> str:
        """Name in messages."""
        ...

    @property
    def source(self) -> str:
        """Where to get the data set."""
        ...

    def layout(self, root: Path) -> Layout:
        """Search a folder for recordings, without opening them."""
        ...
