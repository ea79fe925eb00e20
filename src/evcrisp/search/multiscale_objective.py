"""Objective of the search: sharpness of a window at one level of a resolution pyramid.

A quadratic B-spline on coarse pixels is a smooth kernel already, with a sigma of half a pixel of
the map. No blur follows, and coarse maps are small. The finest level has 2 pixels of the sensor
per pixel of the map, and so a sigma of 1 px.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel, PreparedWarp, prepare
from evcrisp.search.collapse_penalty import CollapsePenalty
from evcrisp.search.curvature import inverse_curvature
from evcrisp.search.event_view import EventView, subsampled
from evcrisp.search.scaling import Scaling
from evcrisp.search.spline_engine import SplineEngine

Limits = tuple[float, float]

_PER_SIDE, _TIMES = 3, 3  # sample points of each side of the border, and of the window


@dataclass(frozen=True, slots=True, eq=False)
class SearchProblem:
    """Data and constants that all levels of a window share."""

    warp: PreparedWarp
    resolution: tuple[int, int]
    scaling: Scaling
    penalty: CollapsePenalty
    span_s: float  # from the first to the last event
    view: EventView


@dataclass(frozen=True, slots=True, eq=False)
class LevelObjective:
    """Log of the sum of squares of the map per event, minus the collapse penalty."""

    problem: SearchProblem
    scale: int  # pixels of the sensor per pixel of the map
    engine: SplineEngine
    center: tuple[int, int]  # column and row of the center of the view

    @classmethod
    def around(
        cls,
        problem: SearchProblem,
        scaled: Floats,
        scale: int,
        n_events: int,
        *,
        margin_px: float,
        phase: float = 0.0,
    ) -> "LevelObjective":
        """Return a level of about ``n_events``, with the view at ``scaled`` and a margin.

        The pixels of the map are ``phase`` pixels before those at whole distances from the center.
        """
        warp = subsampled(problem.warp, n_events, problem.view)
        first, last = float(problem.warp.dt[0]), float(problem.warp.dt[-1])
        theta, resolution = problem.scaling.theta(scaled), problem.resolution
        limits_x, limits_y = border_limits(problem.warp.model, resolution, theta, first, last)
        # Whole pixels from the center: their positions must depend neither on the start of a search
        # nor on the place of the events on the sensor.
        center_x, center_y = problem.view.center_px
        left, right = _extent(limits_x, center_x, resolution[0], margin_px, scale)
        above, below = _extent(limits_y, center_y, resolution[1], margin_px, scale)
        shift = left + phase - center_x / scale, above + phase - center_y / scale
        engine = SplineEngine.of(warp, (above + below + 1, left + right + 1), scale, shift)
        return cls(problem, scale, engine, (left, above))

    def value(self, scaled: Floats) -> float:
        """Return the objective at ``scaled``; -inf if no event is on the map."""
        total = self.engine.squares(self.problem.scaling.theta(scaled))
        return self._log_contrast(total) - self.problem.penalty.value_and_gradient(scaled)[0]

    def values(self, points: Sequence[Floats] | Floats) -> list[float]:
        """Return the objective at several points."""
        problem = self.problem
        totals = self.engine.squares_of([problem.scaling.theta(point) for point in points])
        values = [self._log_contrast(total) for total in totals]
        if problem.penalty.is_free:
            return values
        penalties = (problem.penalty.value_and_gradient(point)[0] for point in points)
        return [value - penalty for value, penalty in zip(values, penalties, strict=True)]

    def __call__(self, scaled: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient."""
        total, slope = self.engine.squares_and_slope(self.problem.scaling.theta(scaled))
        if not total > 0.0:
            return -math.inf, np.zeros(scaled.size)
        gradient = self.problem.scaling.gradient(slope) * (2.0 / (total * self.scale))
        penalty, steeper = self.problem.penalty.value_and_gradient(scaled)
        return self._log_contrast(total) - penalty, gradient - steeper

    def inverse_curvature(self, least: float = 0.0) -> Floats:
        """Return the inverse of minus the second derivatives at the last evaluation."""
        problem, warp = self.problem, self.engine.warp
        return inverse_curvature(
            self.engine.image, problem.view.center_px, self.center, self.scale, len(warp),
            warp.model, problem.resolution, least=least,
        )  # fmt: skip

    def _log_contrast(self, total: float) -> float:
        return math.log(total / len(self.engine.warp)) if total > 0.0 else -math.inf


def _extent(
    limits: Limits, center: float, size: int, margin_px: float, scale: int
) -> tuple[int, int]:
    """Return the pixels of a map along an axis before the center, and behind it."""
    # Warps that move events far away, or to NaN, must not determine the size of a map.
    low, high = limits if math.isfinite(limits[0]) else (-math.inf, math.inf)
    low, high = (min(max(side, -0.5 * size), 1.5 * size) for side in (low, high))
    low, high = min(low, high) - margin_px, max(low, high) + margin_px
    # A spline reaches 1.5 pixels.
    return (
        max(math.ceil((center - low) / scale), 0) + 2,
        max(math.ceil((high - center) / scale), 0) + 2,
    )


def border_limits(
    model: MotionModel, resolution: tuple[int, int], theta: Floats, first_s: float, last_s: float
) -> tuple[Limits, Limits]:
    """Return the limits of x and of y of the warped sensor border, px.

    Points of the border are warped from the first, the middle and the last time. If one of them has
    no finite position, the limits are NaN.

    >>> from evcrisp.motion import Translation
    >>> border_limits(Translation(), (346, 260), np.array([100.0, 0.0]), -0.1, 0.1)
    ((-10.0, 355.0), (0.0, 259.0))
    """
    from evcrisp.kernels.search.array_ops import limits_of

    border = _border(model, resolution)
    dt = first_s + (last_s - first_s) * border.dt
    x, y = border.of(border.x, border.y, dt).warp(theta)
    return limits_of(x), limits_of(y)


@lru_cache(maxsize=64)
def _border(model: MotionModel, resolution: tuple[int, int]) -> PreparedWarp:
    """Return the prepared warp of points on the border, at times from 0 to 1."""
    x, y, times = _border_pixels(resolution)
    return prepare(model, x, y, times)


def border_points(model: MotionModel, resolution: tuple[int, int]) -> tuple[Floats, Floats, Floats]:
    """Return the same points as the kernels take them, and their times; all of shape (k,)."""
    x, y, times = _border_pixels(resolution)
    return *model.kernel_points(x, y, None), times


def _border_pixels(resolution: tuple[int, int]) -> tuple[Floats, Floats, Floats]:
    """Return pixels on the border, and times from 0 to 1; all of shape (k,)."""
    right, bottom = resolution[0] - 1.0, resolution[1] - 1.0
    across, down = np.linspace(0.0, right, _PER_SIDE), np.linspace(0.0, bottom, _PER_SIDE)
    low, high = np.zeros(_PER_SIDE), np.ones(_PER_SIDE)
    x = np.concatenate((across, across, low, right * high))
    y = np.concatenate((low, bottom * high, down, down))
    times = np.repeat(np.linspace(0.0, 1.0, _TIMES), x.size)
    return np.tile(x, _TIMES), np.tile(y, _TIMES), times
