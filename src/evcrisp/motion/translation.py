"""One image velocity for the whole window."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats
from evcrisp.motion.matrix import stacked
from evcrisp.motion.protocol import PixelMotion, Points


@dataclass(frozen=True, slots=True)
class Translation(PixelMotion):
    """Image velocity ``(vx, vy)``: ``x' = x - vx dt``, ``y' = y - vy dt``.

    >>> x, y = Translation().warp((100.0, 0.0), np.array([30.0]), np.array([5.0]), 0.1)
    >>> x.tolist(), y.tolist()
    ([20.0], [5.0])
    """

    name: ClassVar[str] = "translation"
    param_names: ClassVar[tuple[str, ...]] = ("vx", "vy")
    param_units: ClassVar[tuple[str, ...]] = ("px/s", "px/s")
    can_collapse: ClassVar[bool] = False

    def warp(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref``, px."""
        vx, vy = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        return np.asarray(x) - vx * dt, np.asarray(y) - vy * dt

    def inverse(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref + dt`` of points given at ``t_ref``, px."""
        return self.warp(theta, x, y, -np.asarray(dt, np.float64))

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp as a homography, shape ``dt.shape + (3, 3)``."""
        vx, vy = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        return stacked(((1.0, 0.0, -vx * dt), (0.0, 1.0, -vy * dt), (0.0, 0.0, 1.0)))

    def on_region(self, left: int, top: int) -> Self:
        """Return the model itself: it has no center."""
        return self

    def uniform_velocity(self, theta: Floats) -> Floats:
        """Return ``theta``: all points move alike."""
        return theta
