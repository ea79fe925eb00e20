"""Motion models: how the image moves within a window, with 1 to 8 parameters."""

from collections.abc import Sequence

from evcrisp.core.camera import Camera
from evcrisp.core.registry import lookup
from evcrisp.motion.affine import Affine
from evcrisp.motion.homography import Homography
from evcrisp.motion.prepared_warp import PreparedWarp, prepare
from evcrisp.motion.protocol import MotionModel
from evcrisp.motion.rotation import Rotation
from evcrisp.motion.similarity import Similarity, Zoom
from evcrisp.motion.translation import Translation

__all__ = [
    "MOTION_MODELS",
    "Affine",
    "Homography",
    "MotionModel",
    "PreparedWarp",
    "Rotation",
    "Similarity",
    "Translation",
    "Zoom",
    "motion_model",
    "prepare",
]

#: Every model by its name, fewest parameters first.
MOTION_MODELS: dict[str, type[MotionModel]] = {
    Zoom.name: Zoom,
    Translation.name: Translation,
    Rotation.name: Rotation,
    Similarity.name: Similarity,
    Affine.name: Affine,
    Homography.name: Homography,
}


def motion_model(name: str, resolution: Sequence[int], camera: Camera | None = None) -> MotionModel:
    """Return the named model for a sensor.

    Examples
    --------
    >>> motion_model("similarity", (346, 260))
    Similarity(center=(172.5, 129.5))
    """
    return lookup(MOTION_MODELS, name, "motion model").for_sensor(resolution, camera)
