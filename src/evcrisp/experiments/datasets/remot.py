"""REMOT: objects seen by a camera at rest, with boxes drawn by hand."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.experiments.datasets.sample import BoxFrame, Limits, Sample
from evcrisp.io.arrays.mat_arrays import read_arrays

DAVIS346 = (346, 260)

#: Duration of a frame of the boxes, us.
FRAME_US = 40_000


@dataclass(frozen=True, slots=True)
class Remot:
    """``NAME.mat`` with the events (x, y, p, t, frame), and ``NAMEGT.mat`` with the boxes."""

    name: ClassVar[str] = "remot"
    title: ClassVar[str] = "REMOT"
    source: ClassVar[str] = (
        "the folder software/software_basic/dataset of the project CASR-HKU/REMOT-FPGA-22 on GitHub"
    )

    def layout(self, root: Path) -> Layout:
        """Find the recordings that have boxes."""
        pairs = [
            (path, path.with_name(f"{path.stem}GT.mat")) for path in sorted(root.glob("*.mat"))
        ]
        clips = tuple(
            Clip(
                name=path.stem, path=path, group=("REMOT",), files=(path, truth), reader=read_remot
            )
            for path, truth in pairs
            if truth.is_file()
        )
        return Layout(
            clips=clips, problems=() if clips else ("there is no NAME.mat with NAMEGT.mat",)
        )


def read_remot(clip: Clip, limits: Limits) -> Sample:
    """Read complete frames and their boxes; frames count from 0."""
    events, truth = read_arrays(clip.files[0]), read_arrays(clip.files[1])
    table = events.get("events", [np.empty((0, 0))])[0]
    if table.ndim != 2 or table.shape[1] != 5 or not {"gtBoxes", "gtIDs"} <= set(truth):
        raise FormatError(
            "expected `events` with the columns x, y, p, t, frame, and cells gtBoxes and gtIDs",
            path=clip.path,
        )
    if not len(table):
        return Sample(events=Events.empty(DAVIS346))
    number = table[:, 4].astype(np.int64)
    rows = table[(number > number[0]) & (number < number[-1])]
    x, y, p, t = (np.ascontiguousarray(column) for column in rows[:, :4].T)
    columns = {"x": x, "y": y, "t": t.astype(np.int64), "p": p > 0}
    bounds = limits.with_first_frame(FRAME_US + 1000)
    found = bounds.of(Events(**columns, resolution=DAVIS346))
    numbers = rows[: len(found) + 1, 4].astype(np.int64)
    # A frame that the limits cut is left out.
    complete = np.unique(numbers[:-1] if len(found) < len(rows) else numbers).tolist()
    if len(found) < len(rows) and complete and numbers[-1] == complete[-1]:
        complete.pop()
    start, boxes = int(found.t[0]) if len(found) else 0, truth["gtBoxes"]
    frames = tuple(
        BoxFrame(
            t_start=start + (k - complete[0]) * FRAME_US,
            t_end=start + (k - complete[0] + 1) * FRAME_US,
            boxes=_corners(boxes[k]),
            ids=tuple(int(one) for one in np.ravel(truth["gtIDs"][k])),
        )
        for k in complete
        if k < len(boxes)
    )
    return Sample(events=found, boxes=frames)


def _corners(boxes: np.ndarray) -> np.ndarray:
    """Return (x_min, y_min, x_max, y_max) of (x, y, width, height), shape (n, 4)."""
    rows = np.reshape(boxes, (-1, 4)).astype(np.float64)
    return np.hstack((rows[:, :2], rows[:, :2] + rows[:, 2:]))
