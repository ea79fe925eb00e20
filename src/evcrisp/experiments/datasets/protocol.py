"""What a data set is to the experiments: recordings, each with its place in the tables."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One recording of a data set.

    Parameters
    ----------
    name : str
        Unique within the set, such as ``D-END/nd04/Bicycle-ND04-1``.
    path : Path
        What :func:`evcrisp.open` takes.
    group : tuple of str
        Where it stands in the tables, such as ``("day", "ND4")``.
    files : tuple of Path
        The files whose bytes decide a result.
    resolution : (int, int), px, optional
        Size of the sensor where the files do not say it.
    """

    name: str
    path: Path
    group: tuple[str, ...]
    files: tuple[Path, ...]
    resolution: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What was found of a data set, and what is missing."""

    clips: tuple[Clip, ...]
    problems: tuple[str, ...]  # each says what is missing


class Dataset(Protocol):
    """A data set that the experiments know."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]  # where to get it

    def layout(self, root: Path) -> Layout:
        """Look at a folder; nothing is opened."""
        ...
