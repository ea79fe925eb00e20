"""MVSEC: recordings of a stereo pair, with a true field of the left camera."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.experiments.datasets.sample import FlowFrame, Limits, Sample, read_limited

DAVIS346 = (346, 260)

#: Time after a frame that is read, so that an event shows that the frame is complete, us.
SLACK_US = 1000

#: Rows of outdoor sequences from this one on show the car, and are not compared.
_LAST_OUTDOOR_ROW = 193


@dataclass(frozen=True, slots=True)
class Mvsec:
    """``SEQUENCE_data.hdf5``, and ``SEQUENCE_gt_flow_dist.npz`` anywhere below the folder.

    The field has ``timestamps`` in s, ``x_flow_dist`` and ``y_flow_dist``: displacements in px from one
    time to the next. Pixels whose displacement is 0 in both directions are not known.
    """

    name: ClassVar[str] = "mvsec"
    title: ClassVar[str] = "MVSEC"
    source: ClassVar[str] = (
        "the page 'Download' of the Multi Vehicle Stereo Event Camera dataset, University of "
        "Pennsylvania (daniilidis-group.github.io/mvsec)"
    )

    def layout(self, root: Path) -> Layout:
        """Find the recordings, and fields by the names of their sequences."""
        truths = {
            path.name.partition("_gt_flow_dist")[0]: path
            for path in root.rglob("*_gt_flow_dist.npz")
        }
        clips, problems = [], []
        for path in sorted(root.rglob("*_data.hdf5")):
            name = path.name.removesuffix("_data.hdf5")
            clip = Clip(name=name, path=path, group=("MVSEC",), files=(path,), resolution=DAVIS346)
            if name in truths:
                clip = replace(clip, files=(path, truths[name]), reader=read_mvsec)
            else:
                problems.append(f"{name} has no {name}_gt_flow_dist.npz")
            clips.append(clip)
        return Layout(
            clips=tuple(clips), problems=tuple(problems) if clips else ("there is no *_data.hdf5",)
        )


def read_mvsec(clip: Clip, limits: Limits) -> Sample:
    """Read events from the first field on, and the fields during them."""
    try:
        with np.load(clip.files[1], allow_pickle=False) as archive:
            seconds = np.asarray(archive["timestamps"], np.float64).ravel()
            t = np.rint(1e6 * seconds).astype(np.int64)
            frame_us = int(t[1] - t[0]) if t.size > 1 else 0
            bounds = limits.with_first_frame(frame_us + SLACK_US)
            events = _events_from(clip, bounds, int(t[0]) if t.size else 0)
            last = int(events.t[-1]) if len(events) else 0
            n_frames = int(np.searchsorted(t[1:], last, side="right"))
            fields = [archive[name][:n_frames] for name in ("x_flow_dist", "y_flow_dist")]
    except (KeyError, ValueError, OSError) as error:
        raise FormatError(f"not a field of MVSEC ({error})", path=clip.files[1]) from error
    frames = []
    for k in range(n_frames):
        shift = np.stack([field[k] for field in fields], axis=2).astype(np.float64)
        shift[(shift == 0).all(axis=2)] = np.nan
        if clip.name.startswith("outdoor"):
            shift[_LAST_OUTDOOR_ROW:] = np.nan
        start, end = int(t[k]), int(t[k + 1])
        velocity = shift / (1e-6 * (end - start))
        frames.append(FlowFrame(t_start=start, t_end=end, velocity=velocity))
    return Sample(events=events, flow=tuple(frames))


def _events_from(clip: Clip, limits: Limits, t_start: int):
    first = read_limited(clip.path, Limits(max_events=1), clip.resolution)
    start_us = max(t_start - int(first.t[0]), 0) if len(first) else 0
    return read_limited(clip.path, limits, clip.resolution, start_us=start_us)
