"""A velocity field that is linear in the position."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.types import Floats
from evcrisp.motion.matrix import about, apply_inverse, stacked
from evcrisp.motion.protocol import PixelMotion, center_of


@dataclass(frozen=True, slots=True)
class Affine(PixelMotion):
    """Velocity ``(vx, vy)`` plus a matrix ``a`` times the position about ``center``.

    With ``(X, Y) = (x - cx, y - cy)``: ``x' = x - dt (vx + a11 X + a12 Y)``,
    ``y' = y - dt (vy + a21 X + a22 Y)``.

    Examples
    --------
    >>> x, y = Affine(center=(0.0, 0.0)).warp((0, 0, 0, 0, 2.0, 0), 10.0, 7.0, 0.1)
    >>> float(x), float(y)
    (10.0, 5.0)
    """

    center: tuple[float, float]  # px

    name: ClassVar[str] = "affine"
    param_names: ClassVar[tuple[str, ...]] = ("vx", "vy", "a11", "a12", "a21", "a22")
    param_units: ClassVar[tuple[str, ...]] = ("px/s", "px/s", "1/s", "1/s", "1/s", "1/s")

    @classmethod
    def for_sensor(cls, resolution: Sequence[int], camera: Camera | None = None) -> Self:
        """Return the model about the middle of a sensor."""
        return cls(center_of(resolution))

    def warp(
        self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike
    ) -> tuple[Floats, Floats]:
        """Return the positions at ``t_ref``, px."""
        vx, vy, a11, a12, a21, a22 = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        x, y = np.asarray(x), np.asarray(y)
        big_x, big_y = x - self.center[0], y - self.center[1]
        return (
            x - dt * (vx + a11 * big_x + a12 * big_y),
            y - dt * (vy + a21 * big_x + a22 * big_y),
        )

    def inverse(
        self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike
    ) -> tuple[Floats, Floats]:
        """Return the positions at ``t_ref + dt`` of points given at ``t_ref``, px."""
        return apply_inverse(self.matrix(theta, dt), x, y)

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

    def kernel_constants(self) -> tuple[Floats, ...]:
        """Return the center."""
        return (np.array(self.center),)

    def kernels(self) -> tuple[Callable[..., None], Callable[..., None]]:
        """Return the compiled functions ``warp`` and ``pull_back``."""
        from evcrisp.kernels.motion import affine as kernel

        return kernel.warp, kernel.pull_back
