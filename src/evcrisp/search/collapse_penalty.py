"""Penalty that prevents event collapse, by a bound on the change of area.

Zoom, similarity, affine and homography can gather all events on a few pixels, which maximizes the
contrast. The penalty bounds the change of area within a window, anywhere on the sensor.
Translations and rotations cannot collapse and have no bound.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel
from evcrisp.search.scaling import Scaling, displacement_fields, inverse_rates, sensor_points

#: Bound on the change of log area within a window: an object may grow by 35 % in width.
MAX_LOG_AREA = 0.6

_STIFFNESS = 100.0  # factor of the squared excess over the bound

#: A change above this share of the bound was stopped by the penalty.
_AT_BOUND = 0.98

#: The penalty bounds the change to first order; above 1.1 times the bound, a motion has collapsed.
_EXCESS = 1.1


@dataclass(frozen=True, slots=True, eq=False)
class CollapsePenalty:
    """Quadratic penalty on the change of log area above a bound."""

    rows: Floats  # (k, m): change at some points of the sensor per unit of u, to first order
    bound: float
    free_px: float  # scaled parameters u of at most this length are within the bound

    @classmethod
    def of(
        cls, model: MotionModel, resolution: tuple[int, int], bound: float = MAX_LOG_AREA
    ) -> "CollapsePenalty":
        """Return the penalty of a model on a sensor, for scaled parameters; see `Scaling`."""
        if not model.can_collapse:
            return cls(np.zeros((0, len(model.param_names))), math.inf, math.inf)
        rows, steepest = _growth_rows(model, resolution)
        return cls(rows, bound, bound / max(steepest, 1e-12))

    @property
    def is_free(self) -> bool:
        """Whether the penalty is zero everywhere."""
        return self.free_px == math.inf

    def value_and_gradient(self, scaled: Floats) -> tuple[float, Floats]:
        """Return the penalty, to be subtracted from an objective, and its gradient."""
        if float(scaled @ scaled) <= self.free_px * self.free_px:
            return 0.0, np.zeros(scaled.size)
        change = self.rows @ scaled
        excess = np.maximum(np.abs(change) - self.bound, 0.0)
        slope = 2.0 * _STIFFNESS * excess * np.sign(change)
        return _STIFFNESS * float(excess @ excess), slope @ self.rows


def has_collapsed(
    model: MotionModel,
    theta: Floats,
    resolution: tuple[int, int],
    span_s: float,
    bound: float = MAX_LOG_AREA,
) -> bool:
    """Return whether a motion of events that span ``span_s`` reaches the bound."""
    if not model.can_collapse:
        return False
    penalty = CollapsePenalty.of(model, resolution, bound)
    scaled = Scaling.of(model, resolution, span_s).scaled(theta)
    if float(scaled @ scaled) < (0.5 * penalty.free_px) ** 2:
        return False
    change = float(np.abs(penalty.rows @ scaled).max())
    if change > _AT_BOUND * bound:
        return True
    return log_area_change(model, theta, resolution, span_s) > _EXCESS * bound


def log_area_change(
    model: MotionModel, theta: Floats, resolution: tuple[int, int], duration_s: float
) -> float:
    """Return the largest change of log area on the sensor; inf for a fold.

    The warp is a homography H, whose area factor is ``det H / depth**3`` at a point.

    >>> from evcrisp.motion import Zoom
    >>> round(log_area_change(Zoom((50.0, 40.0)), np.array([2.0]), (101, 81), 0.1), 6)
    0.4
    """
    x, y = sensor_points(resolution, 3)
    points = np.stack((x, y, np.ones(x.size)))
    logs = []
    for dt in (-0.5 * duration_s, 0.5 * duration_s):
        matrix = model.matrix(theta, dt)
        depth = matrix[2] @ points
        area = np.linalg.det(matrix) / depth**3 if (depth > 0.0).all() else np.zeros(1)
        if not (np.isfinite(area) & (area > 0.0)).all():
            return float("inf")
        logs.append(np.log(area))
    return float(np.abs(logs[1] - logs[0]).max())


@lru_cache(maxsize=64)
def _growth_rows(model: MotionModel, resolution: tuple[int, int]) -> tuple[Floats, float]:
    """Return the divergence per unit of ``u``, shape (9, m), and its largest norm."""
    x, y = sensor_points(resolution, 3)
    left, right = displacement_fields(model, x - 0.5, y), displacement_fields(model, x + 0.5, y)
    above, below = displacement_fields(model, x, y - 0.5), displacement_fields(model, x, y + 0.5)
    divergence = (right[0] - left[0]) + (below[1] - above[1])
    rows = divergence @ inverse_rates(model, resolution)
    rows[np.abs(rows) < 1e-8] = 0.0  # rounding of the differences
    rows.flags.writeable = False
    return rows, float(np.sqrt((rows * rows).sum(axis=1).max()))
