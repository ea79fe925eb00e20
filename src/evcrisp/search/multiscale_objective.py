"""Sharpness of a window on one level of a resolution pyramid, as fast as it can be had.

A quadratic B-spline on a map of coarse pixels is a smooth kernel already (sigma half a pixel of the
map): no blur follows, and the maps of coarse levels are small. The finest level, two pixels of the
sensor for one of the map, has a sigma of 1 px.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats
from evcrisp.motion import PreparedWarp
from evcrisp.search.border_bias import Frame
from evcrisp.search.collapse_penalty import Guard
from evcrisp.search.curvature import inverse_curvature
from evcrisp.search.scaling import Scaling
from evcrisp.search.warped_extent import Limits, border_limits


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What all levels of a window share."""

    warp: PreparedWarp
    resolution: tuple[int, int]
    scaling: Scaling
    guard: Guard
    frame: Frame
    span_s: float  # from the first to the last event


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Log of the sum of squares of the contrast map, per event; a function for solvers.

    The guard's wall is subtracted. The arrays are scratch: every call fills them anew.
    """

    problem: Problem
    warp: PreparedWarp
    scale: int  # pixels of the sensor per pixel of the map
    shift: tuple[float, float]  # px of the map
    image: Floats  # (h, w)
    places: Floats  # (2, n)
    cell: NDArray[np.int32]  # (n,)
    inside: Floats  # (2, n)
    slope: Floats  # (2, n)

    @classmethod
    def around(
        cls, problem: Problem, scaled: Floats, *, scale: int, n_events: int, margin_px: float
    ) -> "Level":
        """Return a level whose map holds the view at ``scaled``, and a margin around it.

        Of more than ``n_events`` events, about that many are taken, spread evenly over time.
        """
        warp = thinned(problem.warp, n_events)
        first, last = float(problem.warp.dt[0]), float(problem.warp.dt[-1])
        theta, resolution = problem.scaling.theta(scaled), problem.resolution
        across, down = border_limits(problem.warp.model, resolution, theta, first, last)
        left, width = _extent(across, resolution[0], margin_px, scale)
        top, height = _extent(down, resolution[1], margin_px, scale)
        n = len(warp)
        return cls(
            problem,
            warp,
            scale,
            (1.5 - left / scale, 1.5 - top / scale),
            np.empty((height, width)),
            np.empty((2, n)),
            np.empty(n, np.int32),
            np.empty((2, n)),
            np.empty((2, n)),
        )

    def value(self, scaled: Floats) -> float:
        """Return the sharpness at ``scaled``; -inf if no event is on the map."""
        total = self._built(self.problem.scaling.theta(scaled))
        return self._value(total) - self.problem.guard.penalty(scaled)[0]

    def __call__(self, scaled: Floats) -> tuple[float, Floats]:
        """Return the sharpness and its gradient."""
        from evcrisp.kernels.contrast import spline

        theta = self.problem.scaling.theta(scaled)
        total = self._built(theta)
        if not total > 0.0:
            return -math.inf, np.zeros(scaled.size)
        spline.slopes(self.cell, *self.inside, self.image, *self.slope)
        pulled = self.problem.scaling.gradient(self.warp.pull_back(theta, *self.slope))
        wall, push = self.problem.guard.penalty(scaled)
        return self._value(total) - wall, pulled * (2.0 / (total * self.scale)) - push

    def inverse_curvature(self, least: float = 0.0) -> Floats:
        """Return the inverse of minus the second derivatives where the level was last looked at."""
        shift_x, shift_y = self.shift
        origin_px = -shift_x * self.scale, -shift_y * self.scale
        model, resolution = self.warp.model, self.problem.resolution
        return inverse_curvature(
            self.image, origin_px, self.scale, len(self.warp), model, resolution, least=least
        )

    def _built(self, theta: Floats) -> float:
        """Fill the map; return its sum of squares."""
        from evcrisp.kernels.contrast import spline

        self.warp.fill(theta, *self.places)
        return spline.build(
            *self.places, 1.0 / self.scale, *self.shift, self.cell, *self.inside, self.image
        )

    def _value(self, total: float) -> float:
        return math.log(total / len(self.warp)) if total > 0.0 else -math.inf


def thinned(warp: PreparedWarp, n_events: int) -> PreparedWarp:
    """Return about ``n_events`` of the events, one out of each stretch of equal length.

    Not every k-th: cameras send events in bursts along rows, whose order must not matter.
    """
    from evcrisp.kernels.search.subsample import thin

    stretch = round(len(warp) / max(n_events, 1))
    if stretch < 2:
        return warp
    columns = tuple(np.empty(len(warp) // stretch) for _ in range(3))
    thin(warp.x, warp.y, warp.dt, stretch, *columns)
    return warp.of(*columns)


def _extent(limits: Limits, size: int, margin_px: float, scale: int) -> tuple[int, int]:
    """Return the first position on a map along one axis, and how many pixels it needs."""
    # A warp that throws events far away, or to no number at all, does not decide how large a map is.
    low, high = limits if math.isfinite(limits[0]) else (-math.inf, math.inf)
    low, high = (min(max(side, -0.5 * size), 1.5 * size) for side in (low, high))
    # In whole pixels of the map: where these lie must not depend on where a search started.
    first = scale * math.floor((min(low, high) - margin_px) / scale)
    return first, math.ceil((max(low, high) + margin_px - first) / scale) + 4
