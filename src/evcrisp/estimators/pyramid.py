"""Sharpness of warped events on one level of a resolution pyramid, as fast as it can be had."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.estimators.scaling import Scaling
from evcrisp.motion import PreparedWarp

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Log of the sum of squares of a contrast map, as a function of scaled parameters."""

    warp: PreparedWarp
    scaling: Scaling
    scale: int
    shift: tuple[float, float]
    image: Floats
    shape: NDArray[np.int64]
    cell: NDArray[np.int64]
    offset: tuple[Floats, Floats]
    slope: tuple[Floats, Floats]

    @classmethod
    def around(cls, warp, scaling, scale, scaled, margin_px, resolution):
        x, y = warp.warp(scaling.theta(scaled))
        (left, right), (top, bottom) = _range(x, resolution[0], margin_px), _range(y, resolution[1], margin_px)
        height = int(np.ceil((bottom - top) / scale)) + 4
        width = int(np.ceil((right - left) / scale)) + 4
        n = len(warp)
        # Pixel 1.5 of the map is the first sensor position
        return cls(warp, scaling, scale, (1.5 - left / scale, 1.5 - top / scale), np.zeros((height, width)),
                   np.array([height, width]), np.empty(n, np.int64), (np.empty(n), np.empty(n)), (np.empty(n), np.empty(n)))

    def value(self, scaled):
        from evcrisp.kernels import spline
        x, y = self.warp.warp(self.scaling.theta(scaled))
        spline.locate(x, y, 1.0 / self.scale, *self.shift, self.shape, self.cell, *self.offset)
        spline.vote(self.cell, *self.offset, self.image)
        total = spline.sum_of_squares(self.image)
        return np.log(total / len(self.warp)) if total > 0 else -np.inf

    def __call__(self, scaled):
        from evcrisp.kernels import spline
        theta = self.scaling.theta(scaled)
        x, y = self.warp.warp(theta)
        spline.locate(x, y, 1.0 / self.scale, *self.shift, self.shape, self.cell, *self.offset)
        spline.vote(self.cell, *self.offset, self.image)
        total = spline.sum_of_squares(self.image)
        if not total > 0: return -np.inf, np.zeros(scaled.size)
        spline.slopes(self.cell, *self.offset, self.image, *self.slope)
        g = self.scaling.gradient(self.warp.pull(theta, *self.slope))
        return float(np.log(total / len(self.warp))), g * (2.0 / (total * self.scale))


def _range(values, size, margin):
    low, high = np.min(values), np.max(values)
    low = max(low, -0.5 * size) if np.isfinite(low) else -0.5*size
    high = min(high, 1.5 * size) if np.isfinite(high) else 1.5*size
    return float(np.floor(low - margin)), float(np.ceil(high + margin))
