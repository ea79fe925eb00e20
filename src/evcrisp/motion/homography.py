"""A plane in front of a freely moving camera."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.motion.matrix import about, in_front, stacked
from evcrisp.motion.protocol import CenteredMotion, Points, center_of


@dataclass(frozen=True, slots=True)
class Homography(CenteredMotion):
    """Eight rates ``g1..g8`` on ``a = (x - cx) / scale``, ``b = (y - cy) / scale``.

    ``a' = (a - dt (g1 a + g2 b + g3)) / d``, ``b' = (b - dt (g4 a + g5 b + g6)) / d`` with
    ``d = 1 - dt (g7 a + g8 b)``; then ``x' = cx + scale a'``, ``y' = cy + scale b'``.
    ``scale`` is half the width of the sensor, so that all rates are of one size.

    >>> model = Homography(center=(0.0, 0.0), scale=100.0)
    >>> x, y = model.warp((0, 0, 1.0, 0, 0, 0, 0, 0), 50.0, 0.0, 0.1)  # 100 px/s to the right
    >>> float(x)
    40.0
    """

    scale: float  # px

    name: ClassVar[str] = "homography"
    param_names: ClassVar[tuple[str, ...]] = ("g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8")
    param_units: ClassVar[tuple[str, ...]] = ("1/s",) * 8

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ConfigError(f"`scale` must be a positive number of px; got {self.scale}.")

    @classmethod
    def for_sensor(cls, resolution: Sequence[int], camera: Camera | None = None) -> Self:
        """Return the model about the middle of a sensor, scaled by half its width."""
        return cls(center_of(resolution), 0.5 * resolution[0])

    def warp(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref``, px."""
        g1, g2, g3, g4, g5, g6, g7, g8 = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        (cx, cy), scale = self.center, self.scale
        a, b = (np.asarray(x) - cx) / scale, (np.asarray(y) - cy) / scale
        depth = in_front(1.0 - dt * (g7 * a + g8 * b))
        return (
            cx + scale * (a - dt * (g1 * a + g2 * b + g3)) / depth,
            cy + scale * (b - dt * (g4 * a + g5 * b + g6)) / depth,
        )

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp as a homography, shape ``dt.shape + (3, 3)``."""
        g1, g2, g3, g4, g5, g6, g7, g8 = np.asarray(theta, np.float64)
        dt = np.asarray(dt, np.float64)
        rows = (
            (1.0 - g1 * dt, -g2 * dt, -g3 * dt),
            (-g4 * dt, 1.0 - g5 * dt, -g6 * dt),
            (-g7 * dt, -g8 * dt, 1.0),
        )
        return about(self.center, stacked(rows), self.scale)

    def kernel_constants(self) -> tuple[Floats, ...]:
        """Return center and unit of length."""
        return (np.array([*self.center, self.scale]),)
