"""Image velocity and rotation about a center, without growth."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats
from evcrisp.motion.protocol import CenteredMotion, Points
from evcrisp.motion.similarity import Similarity


@dataclass(frozen=True, slots=True)
class Rigid(CenteredMotion):
    """Velocity ``(vx, vy)`` and rotation ``w`` from x towards y about ``center``.

    A :class:`Similarity` without growth. Spokes of a wheel and a single bar do not show growth.

    >>> x, y = Rigid(center=(0.0, 0.0)).warp((0, 0, np.pi), 0.0, 10.0, 0.5)
    >>> round(float(x), 3), round(float(y), 3)
    (10.0, 0.0)
    """

    name: ClassVar[str] = "rigid"
    param_names: ClassVar[tuple[str, ...]] = ("vx", "vy", "w")
    param_units: ClassVar[tuple[str, ...]] = ("px/s", "px/s", "rad/s")
    can_collapse: ClassVar[bool] = False
    #: The kernels are those of a similarity without growth.
    kernel_name: ClassVar[str] = "similarity"
    n_fixed_last: ClassVar[int] = 1

    def warp(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref``, px."""
        return Similarity(self.center).warp(_with_growth(theta), x, y, dt)

    def inverse(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref + dt`` of points given at ``t_ref``, px."""
        return Similarity(self.center).inverse(_with_growth(theta), x, y, dt)

    def angular_velocity(self, theta: ArrayLike) -> Floats:
        """Return a roll of the camera, opposite to the rotation of the image."""
        return Similarity(self.center).angular_velocity(_with_growth(theta))

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp as a homography, shape ``dt.shape + (3, 3)``."""
        return Similarity(self.center).matrix(_with_growth(theta), dt)


def _with_growth(theta: ArrayLike) -> Floats:
    """Return the parameters of a similarity that does not grow."""
    values = np.asarray(theta, np.float64)
    return np.concatenate((values, np.zeros_like(values[:1])))
