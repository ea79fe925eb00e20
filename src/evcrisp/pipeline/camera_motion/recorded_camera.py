"""Use the calibration of a recording where a motion needs one."""

import logging

from evcrisp.core.camera import Camera
from evcrisp.io.recording import Recording
from evcrisp.motion import MotionModel
from evcrisp.motion.registry import MOTION_MODELS

logger = logging.getLogger(__name__)


def camera_for(source: object, motion: str | MotionModel, camera: Camera | None) -> Camera | None:
    """Return the given camera, or that of a recording if the motion is a name that needs one.

    Open motions do not need a camera, and use none that was not given.
    """
    if camera is not None or not needs_camera(motion) or not isinstance(source, Recording):
        return camera
    found = source.camera()
    if found is not None:
        logger.info("%s: using the calibration in its calib.txt: %r.", source.path, found)
    return found


def camera_source(given: Camera | None, used: Camera | None) -> str | None:
    """Return where a camera comes from, for summaries: "given", "calib.txt" or None."""
    if used is None:
        return None
    return "given" if given is not None else "calib.txt"


def needs_camera(motion: str | MotionModel) -> bool:
    """Return whether a motion is the name of a model of the camera's rays."""
    return isinstance(motion, str) and motion in MOTION_MODELS and MOTION_MODELS[motion].uses_rays
