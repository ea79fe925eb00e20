"""The calibration that a user gives with ``--camera``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.io.recording import Recording


def camera_for(path: Path | None, sensor: "Recording | Sequence[int]") -> "Camera | None":
    """Read a calibration, and say so if it looks like that of another sensor."""
    from evcrisp.core.camera import Camera, warn_of_mismatch
    from evcrisp.io.recording import Recording

    if path is None:
        return None
    camera = Camera.from_file(path)
    width, height = sensor.resolution if isinstance(sensor, Recording) else sensor
    warn_of_mismatch(camera, (width, height))
    return camera
