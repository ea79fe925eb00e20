"""Contrast loss caused by the border of the view, and its correction.

Events fill the view of the sensor. Warped by a motion, they fill a view with blurred borders: the
contrast falls for any scene, and its maximum lies at a motion that is slightly too slow. The loss
is known, so an objective can add it back.

The view is the rectangle of the outermost events, whatever the declared sensor: a part of it may be
masked or cut off. Things that move within the view have no border in this sense: their outermost
events come at the beginning or at the end of a window, those at a border of the view all the time.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel
from evcrisp.search.event_view import Rectangle
from evcrisp.search.scaling import displacement_fields, inverse_rates

_PER_SIDE = 8  # segments of each side of the border


@dataclass(frozen=True, slots=True, eq=False)
class BorderBias:
    r"""Loss of contrast at the sensor border, as a function of scaled parameters.

    A border that moves by e px within the window becomes a ramp of that width around its middle
    position. The square of a ramp sums to e / 3, that of a sharp border to e / 2. So the log of the
    sum of squares of a map with evenly spread content falls by
    :math:`\frac{1}{6 A} \oint |e_n| \, ds` for a view of area A.
    """

    rows: Floats  # (k, m): displacement of border segments along their normal, px per unit of u
    loss_per_px: Floats  # (k,): loss per px of displacement

    @classmethod
    def of(
        cls,
        model: MotionModel,
        resolution: tuple[int, int],
        view: Rectangle | None = None,
        density: Floats | None = None,
    ) -> Self:
        """Return the bias of a model with parameters scaled for a sensor.

        By default all of the sensor is the view, px; a given view is on the undistorted sensor.
        ``density``, shape (4,), is the relative event density at its upper, lower, left and right
        side, 1 by default.
        """
        left, top, right, bottom = view or (-0.5, -0.5, resolution[0] - 0.5, resolution[1] - 0.5)
        is_uniform = model.uniform_velocity(np.zeros(len(model.param_names))) is not None
        # The place of a border does not matter if all points move alike.
        sides = (0.0, 0.0, 1.0, 1.0) if is_uniform else (left, top, right, bottom)
        # A segment of a horizontal side has length width / segments: loss (length) / (6 width height).
        rate = np.repeat(1.0 / (6.0 * np.array([bottom - top, right - left])), 2)
        rate = rate if density is None else rate * density
        rows = _side_rows(model, resolution, sides, view is not None)
        return cls(rows, np.repeat(rate / _PER_SIDE, _PER_SIDE))

    def loss(self, scaled: Floats, softness_px: float) -> tuple[float, Floats]:
        """Return the loss at ``scaled`` and its gradient, shape (m,).

        ``softness_px`` is the sigma of the map; smaller displacements lose nothing.
        """
        moved = self.rows @ scaled
        soft = 2.0 * softness_px
        size = np.sqrt(moved * moved + soft * soft)
        rate = self.loss_per_px
        return float(rate @ (size - soft)), (rate * moved / size) @ self.rows


@lru_cache(maxsize=64)
def _side_rows(
    model: MotionModel, resolution: tuple[int, int], sides: Rectangle, undistorted: bool
) -> Floats:
    """Return the displacement of segments of the upper, lower, left, right side, (k, m)."""
    moving = model.without_distortion() if undistorted else model
    left, top, right, bottom = sides
    steps = (np.arange(_PER_SIDE) + 0.5) / _PER_SIDE
    across, down = left + steps * (right - left), top + steps * (bottom - top)
    # The normal of a side points along y or x.
    along_x, _ = displacement_fields(moving, np.repeat((left, right), _PER_SIDE), np.tile(down, 2))
    _, along_y = displacement_fields(
        moving, np.tile(across, 2), np.repeat((top, bottom), _PER_SIDE)
    )
    rows = np.concatenate((along_y, along_x)) @ inverse_rates(model, resolution)
    rows.flags.writeable = False
    return rows
