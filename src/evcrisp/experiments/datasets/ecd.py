"""ECD, the Event Camera Dataset: sequences with calibration, gyroscope and poses."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.experiments.datasets.sample import FlowFrame, Limits, Sample, read_plain
from evcrisp.io.reading import open_recording
from evcrisp.io.recording import Recording
from evcrisp.metrics import interpolate_truth
from evcrisp.motion.rotation import Rotation
from evcrisp.motion.velocity import velocity_of

#: The sequences of the paper.
PAPER_SEQUENCES = ("dynamic_rotation", "boxes_rotation", "dynamic_translation", "boxes_translation")

#: Further sequences of the same camera, used if present.
OTHER_SEQUENCES = ("poster_rotation", "shapes_rotation", "poster_translation", "shapes_translation")

DAVIS240 = (240, 180)

#: Duration of a frame of the field, us.
FRAME_US = 20_000

_EVENTS = ("events.txt", "events.txt.gz")
_IMU = ("imu.txt", "imu.txt.gz")


@dataclass(frozen=True, slots=True)
class Ecd:
    """A folder per sequence (``events.txt``, ``imu.txt``, ``calib.txt``), or its zip or bag.

    A bag holds IMU samples and needs ``calib.txt`` beside it, or in a folder of its name.
    """

    name: ClassVar[str] = "ecd"
    title: ClassVar[str] = "ECD (Event Camera Dataset)"
    source: ClassVar[str] = (
        "the page 'The Event-Camera Dataset and Simulator' of the Robotics and Perception Group, "
        "University of Zurich (rpg.ifi.uzh.ch/davis_data.html)"
    )

    def layout(self, root: Path) -> Layout:
        """Find the sequences, as a folder, a zip or a bag each."""
        clips: list[Clip] = []
        problems: list[str] = []
        for name in PAPER_SEQUENCES + OTHER_SEQUENCES:
            clip, missing = _sequence(root, name)
            if clip is not None:
                clips.append(clip)
            elif missing or name in PAPER_SEQUENCES:
                problems.append(missing or f"{name} is missing (folder, {name}.zip or {name}.bag)")
        return Layout(clips=tuple(clips), problems=tuple(problems))


def calibration_file(clip: Clip) -> Path | None:
    """Return ``calib.txt`` of a sequence; None for a zip, which contains it."""
    return next((path for path in clip.files if path.name == "calib.txt"), None)


def _sequence(root: Path, name: str) -> tuple[Clip | None, str]:
    """Return a sequence, or the part that is missing; (None, "") if nothing is found."""
    folder = root / name
    events = _one_of(folder, _EVENTS)
    if events is not None:
        imu, calib = _one_of(folder, _IMU), folder / "calib.txt"
        if imu is None:
            return None, f"{name} has no imu.txt"
        if not calib.is_file():
            return None, f"{name} has no calib.txt"
        return _clip(name, folder, (events, imu, calib)), ""
    for path in (root / f"{name}.zip", folder / f"{name}.zip"):
        if path.is_file():
            return _clip(name, path, (path,)), ""
    for path in (root / f"{name}.bag", folder / f"{name}.bag"):
        if path.is_file():
            beside = (folder / "calib.txt", path.parent / "calib.txt")
            calib = next((found for found in beside if found.is_file()), None)
            if calib is None:
                return None, f"{name}.bag has no calib.txt beside it"
            return _clip(name, path, (path, calib)), ""
    return None, f"{name} has no events.txt" if folder.is_dir() else ""


def _clip(name: str, path: Path, files: tuple[Path, ...]) -> Clip:
    return Clip(
        name=name, path=path, group=(name,), files=files, resolution=DAVIS240, reader=read_ecd
    )


def camera_of(clip: Clip, recording: Recording) -> Camera:
    """Return the calibration of a sequence, from its file or its zip."""
    path = calibration_file(clip)
    if path is not None:
        return Camera.from_file(path)
    numbers = recording.metadata.get("calib")
    if not isinstance(numbers, list) or len(numbers) != 9:
        raise ConfigError(f"{clip.path} has no calib.txt of nine numbers.")
    return Camera(*numbers[:4], tuple(numbers[4:]))


def read_ecd(clip: Clip, limits: Limits) -> Sample:
    """Read the first events; the gyroscope gives the field of a camera that only turns."""
    events = read_plain(clip, limits.with_first_frame(FRAME_US + 1000)).events
    if not clip.name.endswith("rotation") or not len(events):
        return Sample(events=events)
    with open_recording(clip.path, resolution=clip.resolution) as recording:
        imu, camera = recording.imu(), camera_of(clip, recording)
    if imu is None or len(imu) < 2:
        return Sample(events=events)
    model = Rotation.for_sensor(events.resolution, camera)
    width, height = events.resolution
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(float(width)), np.arange(float(height))))
    frames = []
    for t in range(int(events.t[0]), int(events.t[-1]) - FRAME_US, FRAME_US):
        middle = np.array([t + FRAME_US // 2])
        omega = interpolate_truth(middle, imu.t, imu.gyro_rad_s)[0]
        if np.isfinite(omega).all():
            field = velocity_of(model, omega, x, y, np.zeros(x.size)).reshape(height, width, 2)
            frames.append(FlowFrame(t_start=t, t_end=t + FRAME_US, velocity=field))
    return Sample(events=events, flow=tuple(frames))


def _one_of(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)
