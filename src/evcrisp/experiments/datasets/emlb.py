"""E-MLB: the same scenes by day and by night behind four neutral density filters."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from evcrisp.experiments.datasets import Clip, Layout

#: Folder -> half of the table.
HALVES = {"D-END": "day", "N-END": "night"}

#: Folder -> neutral density filter in front of the lens.
LEVELS = {"nd00": "ND1", "nd04": "ND4", "nd16": "ND16", "nd64": "ND64"}

_LEVEL = re.compile(r"nd(?:00|04|16|64)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Emlb:
    """``D-END`` and ``N-END``, in each ``nd00`` to ``nd64``, in each ``SCENE-ND04-1.aedat4``.

    Folders per scene instead of per filter are accepted if the names of the files state the
    filter. A folder ``END`` that holds both halves is accepted as well.
    """

    name: ClassVar[str] = "emlb"
    title: ClassVar[str] = "E-MLB (END)"
    source: ClassVar[str] = (
        "the section Datasets of the project KugaMaxx/cuke-emlb on GitHub (archives D-END and N-END)"
    )

    def layout(self, root: Path) -> Layout:
        """Find the recordings of both halves and four levels."""
        root = root / "END" if (root / "END").is_dir() else root
        clips: list[Clip] = []
        problems: list[str] = []
        for half in HALVES:
            if not (root / half).is_dir():
                problems.append(f"the folder {half} is missing")
                continue
            found, unplaced = _half(root, half)
            clips += found
            problems += [
                f"{name} does not state its filter (nd00, nd04, nd16 or nd64)" for name in unplaced
            ]
            present = {clip.group[1] for clip in found}
            problems += [
                f"{half}/{folder} has no *.aedat4"
                for folder, level in LEVELS.items()
                if level not in present
            ]
        return Layout(clips=tuple(clips), problems=tuple(problems))


def _half(root: Path, half: str) -> tuple[list[Clip], list[str]]:
    """Return the recordings of one half, and files without a known filter."""
    clips, unplaced = [], []
    for path in sorted((root / half).rglob("*.aedat4")):
        inside = path.relative_to(root)
        found = _LEVEL.findall(inside.as_posix())
        if not found:
            unplaced.append(inside.as_posix())
            continue
        group = (HALVES[half], LEVELS[found[-1].lower()])
        name = inside.with_suffix("").as_posix()
        clips.append(Clip(name=name, path=path, group=group, files=(path,)))
    return clips, unplaced
