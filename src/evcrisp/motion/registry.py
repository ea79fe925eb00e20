"""Motion models by name."""

from collections.abc import Sequence

from evcrisp.core.camera import Camera
from evcrisp.core.registry import Registry, lookup
from evcrisp.motion.protocol import MotionModel

#: Motion models by name, fewest parameters first.
MOTION_MODELS: Registry[type[MotionModel]] = Registry(
    "motion model",
    {
        "zoom": "evcrisp.motion.similarity:Zoom",
        "translation": "evcrisp.motion.translation:Translation",
        "rotation": "evcrisp.motion.rotation:Rotation",
        "rigid": "evcrisp.motion.rigid:Rigid",
        "similarity": "evcrisp.motion.similarity:Similarity",
        "affine": "evcrisp.motion.affine:Affine",
        "homography": "evcrisp.motion.homography:Homography",
    },
    group="evcrisp.motion_models",
)


def motion_model(name: str, resolution: Sequence[int], camera: Camera | None = None) -> MotionModel:
    """Return the named model for a sensor.

    >>> motion_model("similarity", (346, 260))
    Similarity(center=(172.5, 129.5))
    """
    return lookup(MOTION_MODELS, name, "motion model").for_sensor(resolution, camera)
