"""Find data sets in a folder by their layouts."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from evcrisp.core.errors import ConfigError
from evcrisp.experiments.datasets import DATASETS, Clip, Dataset, DatasetLike, dataset_for
from evcrisp.experiments.datasets.recordings import Recordings


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDataset:
    """A data set in a folder, with its recordings and problems."""

    dataset: Dataset
    folder: Path
    clips: tuple[Clip, ...]
    problems: tuple[str, ...]
    beside: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        """Title in tables."""
        return self.dataset.title


def find_datasets(root: Path, dataset: DatasetLike | None = None) -> list[FoundDataset]:
    """Return the data sets of a folder and of its direct sub-folders; the rest are own recordings.

    With ``dataset``, the folder must have its layout.

    Raises
    ------
    ConfigError
        If there is no recording.
    """
    if not root.is_dir():
        raise ConfigError(f"{root} is not a folder.")
    if dataset is not None:
        found = [_find(dataset_for(dataset), root)]
    else:
        found = _known(root)
        claimed = {file for part in found for clip in part.clips for file in clip.files}
        claimed |= {file for part in found for file in part.beside}
        found.append(_find(cast("Dataset", Recordings(frozenset(claimed))), root))
    if not any(part.clips for part in found):
        problems = "; ".join(p for part in found for p in part.problems) or "it is empty"
        raise ConfigError(f"{root} has no recording that can be read: {problems}.")
    return [part for part in found if part.clips or part.problems]


def _known(root: Path) -> list[FoundDataset]:
    """Return the data sets with a known layout; a folder belongs to the first that fits."""
    sources = [DATASETS[name] for name in DATASETS if name != "recordings"]
    found: list[FoundDataset] = []
    for folder in (root, *sorted(path for path in root.iterdir() if path.is_dir())):
        for source in sources:
            part = _find(source, folder)
            taken = {file for other in found for clip in other.clips for file in clip.files}
            if any(taken & set(clip.files) for clip in part.clips):
                continue
            if part.clips:
                found.append(part)
    return found


def _find(source: Dataset, folder: Path) -> FoundDataset:
    layout = source.layout(folder)
    return FoundDataset(
        dataset=source, folder=folder, clips=layout.clips, problems=layout.problems,
        beside=layout.beside,
    )  # fmt: skip
