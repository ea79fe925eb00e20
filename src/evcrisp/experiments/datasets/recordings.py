"""Own recordings: every file or folder of a tree that a reader recognizes."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from evcrisp.core.errors import EvError
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.io.finding import walk_recordings
from evcrisp.io.reading import open_recording


@dataclass(frozen=True, slots=True)
class Recordings:
    """All recordings below a folder; the folder of a recording is its group.

    Labels in a recording, or in ``NAME.truth.npz`` beside it, are the truth.
    """

    name: ClassVar[str] = "recordings"
    title: ClassVar[str] = "Own recordings"
    source: ClassVar[str] = "your camera"

    excluded: frozenset[Path] = frozenset()  # files that belong to another data set

    def layout(self, root: Path) -> Layout:
        """Find the recordings that can be opened, and the reason for each that cannot."""
        clips, problems = [], []
        for path in walk_recordings(root, self.excluded):
            try:
                with open_recording(path) as recording:
                    next(recording.chunks(), None)
                    size = recording.resolution  # so that the message about a guess appears once
            except (EvError, OSError) as error:
                problems.append(str(error))
                continue
            inside = path.relative_to(root)
            group = inside.parts[0] if len(inside.parts) > 1 else root.resolve().name
            files = tuple(_files(path))
            name = inside.as_posix()
            clips.append(Clip(name=name, path=path, group=(group,), files=files, resolution=size))
        return Layout(clips=tuple(clips), problems=tuple(problems))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(part for part in path.rglob("*") if part.is_file())
    beside = path.with_name(f"{path.stem}.truth.npz")
    return [path, beside] if beside.is_file() else [path]
