"""A velocity field that is linear in the position."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats
from evcrisp.motion.matrix import about, stacked
from evcrisp.motion.protocol import CenteredMotion, Points


@dataclass(frozen=True, slots=True)
class Affine(CenteredMotion):
    """Velocity ``(vx, vy)`` plus a matrix ``a`` times the position about ``center``.

    With ``(X, Y) = (x - cx, y - cy)``: ``x' = x - dt (vx + a11 X + a12 Y)``,
    ``y' = y - dt (vy + a21 X + a22 Y)``.

    >>> x, y = Affine(center=(0.0, 0.0)).warp((0, 0, 0, 0, 2.0, 0), 10.0, 7.0, 0.1)
    >>> float(x), float(y)
    (10.0, 5.0)
    """

    name: ClassVar[str] = "affine"
    param_names: ClassVar[tuple[str, ...]] = ("vx", "vy", "a11", "a12", "a21", "a22")
    param_units: ClassVar[tuple[str, ...]] = ("px/s", "px/s", "1/s", "1/s", "1/s", "1/s")

    def warp(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref``, px."""
        vx, vy, a11, a12, a21, a22 = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        x, y = np.asarray(x), np.asarray(y)
        big_x, big_y = x - self.center[0], y - self.center[1]
        return (
            x - dt * (vx + a11 * big_x + a12 * big_y),
            y - dt * (vy + a21 * big_x + a22 * big_y),
        )

    def inverse(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref + dt`` of points given at ``t_ref``, px."""
        vx, vy, a11, a12, a21, a22 = np.asarray(theta, np.float64)
        dt, (cx, cy) = np.asarray(dt, np.float64), self.center
        big_x, big_y = np.asarray(x) - cx + dt * vx, np.asarray(y) - cy + dt * vy
        # (1 - dt a) times the position is that at the reference time: a system of two equations.
        xx, xy, yx, yy = 1.0 - dt * a11, -dt * a12, -dt * a21, 1.0 - dt * a22
        scale = 1.0 / (xx * yy - xy * yx)
        return cx + scale * (yy * big_x - xy * big_y), cy + scale * (xx * big_y - yx * big_x)

    def rates(self, x: Floats, y: Floats) -> Points:
        """Return the velocities along x and y per unit of each parameter, (n, 6), px/s."""
        along_x, along_y = np.zeros((2, x.size, 6))
        along_x[:, 0] = along_y[:, 1] = 1.0
        along_x[:, 2] = along_y[:, 4] = x - self.center[0]
        along_x[:, 3] = along_y[:, 5] = y - self.center[1]
        return along_x, along_y

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp as a homography, shape ``dt.shape + (3, 3)``."""
        vx, vy, a11, a12, a21, a22 = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        rows = (
            (1.0 - a11 * dt, -a12 * dt, -vx * dt),
            (-a21 * dt, 1.0 - a22 * dt, -vy * dt),
            (0.0, 0.0, 1.0),
        )
        return about(self.center, stacked(rows))
