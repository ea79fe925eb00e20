"""Motions whose model is found in the window: one motion, several layers, or a smooth field."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.types import Floats
from evcrisp.motion.affine import Affine
from evcrisp.motion.protocol import MotionModel
from evcrisp.motion.velocity import velocity_of

#: Names that are accepted as motion besides those of models, and what each of them finds.
OPEN_MOTIONS: dict[str, str] = {
    "auto": "the simplest motion that explains the events: one motion, or several layers",
    "layers": "layers, each with its own motion",
    "flow": "a field of motions that changes over the view, as of a camera that drives forward",
}


@dataclass(frozen=True, slots=True)
class OpenMotion:
    """A motion whose model is to be found; a method such as "auto" finds it.

    In tables such motions are written as velocity and matrix of an affine field: one motion at the
    middle of the sensor, the largest of several layers at the middle of its events.
    """

    name: str = "auto"  # one of `OPEN_MOTIONS`
    camera: Camera | None = None

    def on_region(self, left: int, top: int) -> "OpenMotion":
        """Return the motion for pixels of a region whose corner is at ``(left, top)``, px."""
        if self.camera is None:
            return self
        return replace(self, camera=self.camera.cropped((left, top, 1, 1)))

    is_open: ClassVar[bool] = True
    param_names: ClassVar[tuple[str, ...]] = Affine.param_names
    param_units: ClassVar[tuple[str, ...]] = Affine.param_units
    uses_rays: ClassVar[bool] = False


def is_open(model: object) -> bool:
    """Return whether the model of a motion is to be found."""
    return bool(getattr(model, "is_open", False))


def affine_at(model: MotionModel, theta: Floats, center: tuple[float, float]) -> Floats:
    """Return velocity and matrix of a motion at a place and at the reference time, shape (6,).

    >>> from evcrisp.motion import Similarity
    >>> field = affine_at(Similarity(center=(5.0, 5.0)), np.array([0.0, 0.0, 2.0, 0.0]), (5.0, 5.0))
    >>> field.round(3) + 0.0
    array([ 0.,  0.,  0., -2.,  2.,  0.])
    """
    x, y = center
    return affine_at_each(model, theta, np.array([x]), np.array([y]))[0]


def affine_at_each(model: MotionModel, theta: Floats, x: Floats, y: Floats) -> Floats:
    """Return `affine_at` of several places, shape (k, 6)."""
    uniform = model.uniform_velocity(theta)
    if uniform is not None:
        fields = np.zeros((x.size, 6))
        fields[:, :2] = uniform
        return fields
    around_x = x[:, None] + np.array([0.0, 1, -1, 0, 0])
    around_y = y[:, None] + np.array([0.0, 0, 0, 1, -1])
    around = velocity_of(model, theta, around_x.ravel(), around_y.ravel(), np.zeros(around_x.size))
    around = around.reshape(-1, 5, 2)
    along_x = 0.5 * (around[:, 1] - around[:, 2])
    along_y = 0.5 * (around[:, 3] - around[:, 4])
    matrix = np.stack((along_x[:, 0], along_y[:, 0], along_x[:, 1], along_y[:, 1]), axis=1)
    return np.concatenate((around[:, 0], matrix), axis=1)
