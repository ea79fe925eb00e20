"""DVSFLOW16: recordings for optical flow, some of which have a true field."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.types import Floats
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.experiments.datasets.sample import FlowFrame, Limits, Sample, read_limited, read_plain
from evcrisp.io.arrays.mat_arrays import read_arrays

#: Duration of a frame of the field, us: the bars move by up to 10 px/s.
FRAME_US = 1_000_000

#: Longest sample, us.
MAX_US = 10_000_000


@dataclass(frozen=True, slots=True)
class Dvsflow16:
    """AEDAT 2.0 files; ``gtNAME.mat`` beside one has its field: ``vxGT``, ``vyGT`` and ``ts``."""

    name: ClassVar[str] = "dvsflow16"
    title: ClassVar[str] = "DVSFLOW16"
    source: ClassVar[str] = (
        "the data set of Rueckauer and Delbruck, Frontiers in Neuroscience 2016 (Sensors group, "
        "Institute of Neuroinformatics, Zurich)"
    )

    def layout(self, root: Path) -> Layout:
        """Find the recordings in folders with at least one field."""
        truths = {(path.parent, path.stem[2:]): path for path in root.rglob("gt*.mat")}
        folders = sorted({folder for folder, _ in truths})
        clips = []
        for path in sorted(path for folder in folders for path in folder.glob("*.aedat")):
            truth = truths.get((path.parent, path.stem))
            clip = Clip(name=path.stem, path=path, group=("DVSFLOW16",), files=(path,))
            if truth is not None:
                clip = replace(clip, files=(path, truth), reader=read_dvsflow16)
            clips.append(clip)
        problems = () if clips else ("there is no *.aedat beside a gtNAME.mat",)
        return Layout(clips=tuple(clips), problems=problems)


def read_dvsflow16(clip: Clip, limits: Limits) -> Sample:
    """Read the part of a recording for which the field holds."""
    arrays = {name: parts[0] for name, parts in read_arrays(clip.files[1]).items() if parts}
    if not {"vxGT", "vyGT", "ts"} <= set(arrays) or arrays["ts"].size != 2:
        raise FormatError("expected vxGT, vyGT, and two times in ts", path=clip.files[1])
    t_first, t_last = (int(t) for t in arrays["ts"].ravel())
    # The bars are so slow that a sample of the usual length would show no motion.
    wide = replace(limits, max_us=max(limits.max_us or 0, MAX_US))
    start = read_plain(clip, Limits(max_events=1)).events
    t_zero = int(start.t[0]) if len(start) else 0
    events = read_limited(clip.path, wide, clip.resolution, start_us=max(t_first - t_zero, 0))
    events = events.between(t_first, t_last)
    velocity = _field(arrays["vxGT"], arrays["vyGT"])
    ends = range(t_first, int(events.t[-1]) if len(events) else t_first, FRAME_US)
    frames = (FlowFrame(t_start=t, t_end=t + FRAME_US, velocity=velocity) for t in ends)
    return Sample(events=events, flow=tuple(frames))


def _field(vx: np.ndarray, vy: np.ndarray) -> Floats:
    # Rows count from the bottom, as in jAER: y and its velocity change their sign.
    field = np.stack((vx, -vy.astype(np.float64)), axis=2)[::-1].astype(np.float64)
    field[(field == 0).all(axis=2)] = np.nan
    return field
