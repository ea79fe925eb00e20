"""Keep a motion from shrinking the image to a few pixels, which contrast alone would reward.

Zoom, similarity, affine and homography can pile all events onto few pixels (event collapse). The
guard bounds how much the area changes within a window, anywhere on the sensor. Translations do not
change it, and rotations keep the angles between rays: nothing bounds them.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel
from evcrisp.search.scaling import Scaling, displacement_fields, displacement_rates

#: Largest change of log area within a window: an object may grow by 35 % in width.
MAX_LOG_AREA = 0.6

_STIFFNESS = 100.0  # of the wall behind the bound

#: What comes so near to the bound was stopped by it.
_AT_WALL = 0.98

#: The bound holds to first order; a motion whose area changes by so many times as much has collapsed.
_EXCESS = 1.1


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A bound on the change of area, as a wall that a solver runs into softly.

    ``rows @ u`` is the change of log area at some points of the sensor, to first order.
    """

    rows: Floats  # (k, m)
    bound: float
    reach: float  # px; no shorter u comes near the bound

    @classmethod
    def of(
        cls, model: MotionModel, resolution: tuple[int, int], bound: float = MAX_LOG_AREA
    ) -> "Guard":
        """Return the guard of a model on a sensor, for parameters as `Scaling` makes them."""
        if not model.can_collapse:
            return cls(np.zeros((0, len(model.param_names))), math.inf, math.inf)
        rows, steepest = _growth_rows(model, resolution)
        return cls(rows, bound, bound / max(steepest, 1e-12))

    def penalty(self, scaled: Floats) -> tuple[float, Floats]:
        """Return what to subtract from an objective, and its gradient; zero within the bound."""
        if float(scaled @ scaled) <= self.reach * self.reach:
            return 0.0, np.zeros(scaled.size)
        change = self.rows @ scaled
        excess = np.maximum(np.abs(change) - self.bound, 0.0)
        pull = 2.0 * _STIFFNESS * excess * np.sign(change)
        return _STIFFNESS * float(excess @ excess), pull @ self.rows


def has_collapsed(
    model: MotionModel,
    theta: Floats,
    resolution: tuple[int, int],
    span_s: float,
    bound: float = MAX_LOG_AREA,
) -> bool:
    """Return whether a motion lies at or behind the wall, for events that span some time.

    What ends at the wall would have gone on without it.
    """
    if not model.can_collapse:
        return False
    guard = Guard.of(model, resolution, bound)
    scaled = Scaling.of(model, resolution, span_s).scaled(theta)
    if float(scaled @ scaled) < (0.5 * guard.reach) ** 2:
        return False  # too small a motion to change areas by that much
    change = float(np.abs(guard.rows @ scaled).max())
    if change > _AT_WALL * bound:
        return True
    return log_area_change(model, theta, resolution, span_s) > _EXCESS * bound


def log_area_change(
    model: MotionModel, theta: Floats, resolution: tuple[int, int], duration_s: float
) -> float:
    """Return the largest change of log area over a window and the sensor; inf if it folds.

    The warp of any time to the middle is a homography H, whose area factor is
    ``det H / depth**3`` at a point of that depth.

    Examples
    --------
    >>> from evcrisp.motion import Zoom
    >>> round(log_area_change(Zoom((50.0, 40.0)), np.array([2.0]), (101, 81), 0.1), 6)
    0.4
    """
    width, height = resolution
    x, y = np.meshgrid(np.linspace(0.0, width - 1.0, 3), np.linspace(0.0, height - 1.0, 3))
    points = np.stack((x.ravel(), y.ravel(), np.ones(x.size)))
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
    """Return the divergence of the displacement at nine points, per unit of ``u``, and its largest.

    The first has shape (9, m).
    """
    width, height = resolution
    x, y = np.meshgrid(np.linspace(0.0, width - 1.0, 3), np.linspace(0.0, height - 1.0, 3))
    x, y = x.ravel(), y.ravel()
    left, right = displacement_fields(model, x - 0.5, y), displacement_fields(model, x + 0.5, y)
    above, below = displacement_fields(model, x, y - 0.5), displacement_fields(model, x, y + 0.5)
    divergence = (right[0] - left[0]) + (below[1] - above[1])
    rows = divergence @ np.linalg.inv(displacement_rates(model, resolution))
    rows[np.abs(rows) < 1e-8] = 0.0  # rounding of the differences
    rows.flags.writeable = False
    return rows, float(np.sqrt((rows * rows).sum(axis=1).max()))
