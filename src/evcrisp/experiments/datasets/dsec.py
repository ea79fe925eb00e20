"""DSEC-Flow: driving sequences with true fields of 100 ms."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.types import Floats
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.experiments.datasets.sample import FlowFrame, Limits, Sample, read_limited
from evcrisp.io.flow.files import read_flow
from evcrisp.io.hdf5.datasets import library

SENSOR = (640, 480)

#: Time after a frame that is read, so that an event shows that the frame is complete, us.
SLACK_US = 1000


@dataclass(frozen=True, slots=True)
class Dsec:
    """``SEQUENCE/events/left/events.h5``, and ``SEQUENCE/flow/forward`` with its times.

    Events and fields may be in two trees, ``train_events`` and ``train_optical_flow``. A line of
    ``forward_timestamps.txt`` has the two times of a field in us; fields are 16-bit PNG files, in order.
    Fields are rectified; ``rectify_map.h5`` beside the events tells where a pixel lies in them.
    """

    name: ClassVar[str] = "dsec"
    title: ClassVar[str] = "DSEC-Flow"
    source: ClassVar[str] = (
        "the page 'Download' of the DSEC data set, University of Zurich (dsec.ifi.uzh.ch)"
    )

    def layout(self, root: Path) -> Layout:
        """Find the sequences, with fields where there are some."""
        flows = {path.parents[1].name: path for path in root.rglob("flow/forward_timestamps.txt")}
        clips, problems = [], []
        for path in sorted(root.rglob("events/left/events.h5")):
            name = path.parents[2].name
            clip = Clip(name=name, path=path, group=("DSEC",), files=(path,), resolution=SENSOR)
            if name in flows:
                extra = [p for p in (path.with_name("rectify_map.h5"),) if p.is_file()]
                files = (
                    path,
                    flows[name],
                    *extra,
                    *sorted((flows[name].parent / "forward").glob("*.png")),
                )
                clip = replace(clip, files=files, reader=read_dsec)
            else:
                problems.append(f"{name} has no flow/forward_timestamps.txt")
            clips.append(clip)
        return Layout(
            clips=tuple(clips),
            problems=tuple(problems) if clips else ("there is no events/left/events.h5",),
        )


def read_dsec(clip: Clip, limits: Limits) -> Sample:
    """Read events from the first field on, and the fields during them."""
    times = _times(clip.files[1])
    pictures = [path for path in clip.files if path.suffix == ".png"]
    if len(pictures) != len(times):
        raise FormatError(f"{len(times)} times for {len(pictures)} fields", path=clip.files[1])
    rectified = _rectify_map(clip)
    first = read_limited(clip.path, Limits(max_events=1), clip.resolution)
    start_us = max(int(times[0, 0]) - int(first.t[0]), 0) if len(first) and len(times) else 0
    frame_us = int(times[0, 1] - times[0, 0]) if len(times) else 0
    bounds = limits.with_first_frame(frame_us + SLACK_US)
    events = read_limited(clip.path, bounds, clip.resolution, start_us=start_us)
    last = int(events.t[-1]) if len(events) else 0
    frames = []
    for path, (t_start, t_end) in zip(pictures, times.tolist(), strict=True):
        if t_end > last:
            break
        flow = read_flow(path, t_start=t_start, t_end=t_end)
        velocity = np.where(flow.valid[..., None], flow.velocity, np.nan).astype(np.float64)
        frames.append(FlowFrame(t_start=t_start, t_end=t_end, velocity=_at(velocity, rectified)))
    return Sample(events=events, flow=tuple(frames))


def _times(path: Path) -> np.ndarray:
    rows = [line.replace(",", " ").split() for line in path.read_text().splitlines()]
    try:
        return np.array([row for row in rows if row and row[0][0] != "#"], np.int64).reshape(-1, 2)
    except ValueError as error:
        raise FormatError("expected two times in us per line", path=path) from error


def _rectify_map(clip: Clip) -> Floats | None:
    path = next((path for path in clip.files if path.name == "rectify_map.h5"), None)
    if path is None:
        return None
    with library().File(path, "r") as file:
        return np.asarray(file["rectify_map"], np.float64)


def _at(velocity: Floats, rectified: Floats | None) -> Floats:
    """Return a field at the pixels of the sensor; their places in it are rounded."""
    if rectified is None:
        return velocity
    height, width = velocity.shape[:2]
    x, y = np.rint(rectified[..., 0]).astype(int), np.rint(rectified[..., 1]).astype(int)
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    found = velocity[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
    return np.where(inside[..., None], found, np.nan)
