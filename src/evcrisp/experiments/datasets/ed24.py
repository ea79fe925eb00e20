"""ED24: recordings of a DAVIS346 with measured noise of many levels, and labels."""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.experiments.datasets.sample import Limits, Sample

DAVIS346 = (346, 260)

#: The level of noise at the end of a name is the voltage of the light source, V.
_LEVEL = re.compile(r"_(\d\.\d)$")


@dataclass(frozen=True, slots=True)
class Ed24:
    """``SCENE/SCENE_1.8.txt``: lines ``t x y p label`` with t in us, and label 1 for noise.

    A first line that is not of numbers is a header.
    """

    name: ClassVar[str] = "ed24"
    title: ClassVar[str] = "ED24"
    source: ClassVar[str] = "the README of the project NJUVISION/EventDenoising on GitHub"

    def layout(self, root: Path) -> Layout:
        """Find the recordings whose name is that of their folder and a level."""
        clips = []
        for path in sorted(root.glob("*/*.txt")):
            level = _LEVEL.search(path.stem)
            if level is not None and path.stem == f"{path.parent.name}_{level[1]}":
                name = path.relative_to(root).with_suffix("").as_posix()
                clips.append(
                    Clip(
                        name=name,
                        path=path,
                        group=("ED24", f"{level[1]} V"),
                        files=(path,),
                        resolution=DAVIS346,
                        reader=read_ed24,
                    )
                )
        problems = () if clips else ("there is no SCENE/SCENE_LEVEL.txt, such as SCENE_1.8.txt",)
        return Layout(clips=tuple(clips), problems=problems)


def read_ed24(clip: Clip, limits: Limits) -> Sample:
    """Read the first lines of a file."""
    with clip.path.open(encoding="ascii", errors="replace") as file:
        first = file.readline()
        lines = itertools.islice(file, limits.max_events)
        words = [line.split() for line in ([first] if _is_numeric(first) else []) + list(lines)]
    rows = [row for row in words if row]
    if any(len(row) != 5 or not all(map(_is_number, row)) for row in rows):
        raise FormatError("expected lines of five numbers: t x y p label", path=clip.path)
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    t, x, y, p, label = table.T
    columns = {"x": x.astype(np.int64), "y": y.astype(np.int64), "t": t.astype(np.int64)}
    events = Events.sorted_from(**columns, p=p > 0, resolution=DAVIS346, signal=label == 0)
    return Sample(events=limits.of(events))


def _is_numeric(line: str) -> bool:
    words = line.split()
    return bool(words) and all(map(_is_number, words))


def _is_number(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False
