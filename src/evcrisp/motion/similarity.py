"""Image velocity, rotation and zoom about a center; and zoom alone."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats
from evcrisp.motion.matrix import about, stacked
from evcrisp.motion.protocol import CenteredMotion, Points


@dataclass(frozen=True, slots=True)
class Similarity(CenteredMotion):
    """Velocity ``(vx, vy)``, rotation ``w`` from x towards y, and growth ``s`` about ``center``.

    With ``(X, Y) = (x - cx, y - cy)``: ``(p, q) = exp(-s dt) R(-w dt) (X, Y)``, then
    ``x' = cx + p - vx dt``, ``y' = cy + q - vy dt``.

    Things grow by 10 % in 0.1 s when ``s`` is about 0.953; warping undoes it.

    >>> x, y = Similarity(center=(0.0, 0.0)).warp((0, 0, 0, 0.953102), 110.0, 0.0, 0.1)
    >>> round(float(x), 3)
    100.0
    """

    name: ClassVar[str] = "similarity"
    param_names: ClassVar[tuple[str, ...]] = ("vx", "vy", "w", "s")
    param_units: ClassVar[tuple[str, ...]] = ("px/s", "px/s", "rad/s", "1/s")

    def warp(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref``, px."""
        vx, vy, w, s = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        cx, cy = self.center
        big_x, big_y = np.asarray(x) - cx, np.asarray(y) - cy
        shrink = np.exp(-s * dt)
        c, n = shrink * np.cos(w * dt), shrink * np.sin(w * dt)
        return cx + c * big_x + n * big_y - vx * dt, cy - n * big_x + c * big_y - vy * dt

    def inverse(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref + dt`` of points given at ``t_ref``, px."""
        vx, vy, w, s = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        cx, cy = self.center
        p, q = np.asarray(x) - cx + vx * dt, np.asarray(y) - cy + vy * dt
        grow = np.exp(s * dt)
        c, n = grow * np.cos(w * dt), grow * np.sin(w * dt)
        return cx + c * p - n * q, cy + n * p + c * q

    def angular_velocity(self, theta: ArrayLike) -> Floats:
        """Return a roll of the camera, opposite to the rotation of the image."""
        w = np.asarray(theta, np.float64)[2]
        return np.stack((np.zeros_like(w), np.zeros_like(w), -w))

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp as a homography, shape ``dt.shape + (3, 3)``."""
        vx, vy, w, s = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        shrink = np.exp(-s * dt)
        c, n = shrink * np.cos(w * dt), shrink * np.sin(w * dt)
        return about(self.center, stacked(((c, n, -vx * dt), (-n, c, -vy * dt), (0.0, 0.0, 1.0))))


@dataclass(frozen=True, slots=True)
class Zoom(CenteredMotion):
    """Growth ``s`` about ``center`` and nothing else: ``x' = cx + exp(-s dt) (x - cx)``."""

    name: ClassVar[str] = "zoom"
    param_names: ClassVar[tuple[str, ...]] = ("s",)
    param_units: ClassVar[tuple[str, ...]] = ("1/s",)
    #: The kernels are those of a similarity without velocity and rotation.
    kernel_name: ClassVar[str] = "similarity"
    n_fixed: ClassVar[int] = 3

    def warp(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref``, px."""
        (s,) = np.asarray(theta, np.float64)
        cx, cy = self.center
        shrink = np.exp(-s * np.asarray(dt, np.float64))
        return cx + shrink * (np.asarray(x) - cx), cy + shrink * (np.asarray(y) - cy)

    def inverse(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref + dt`` of points given at ``t_ref``, px."""
        return self.warp(theta, x, y, -np.asarray(dt, np.float64))

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp as a homography, shape ``dt.shape + (3, 3)``."""
        (s,) = np.asarray(theta, np.float64)
        shrink = np.exp(-s * np.asarray(dt, np.float64))
        return about(
            self.center, stacked(((shrink, 0.0, 0.0), (0.0, shrink, 0.0), (0.0, 0.0, 1.0)))
        )
