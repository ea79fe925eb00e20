"""Contrast loss caused by the sensor border, and its correction.

Events fill the view of the sensor. Warped by a motion, they fill a view with blurred borders: the
contrast falls for any scene, and its maximum lies at a motion that is slightly too slow. The loss
is known, so an objective can add it back.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel
from evcrisp.search.scaling import displacement_fields, inverse_rates

_PER_SIDE = 8  # segments of each side of the border
_BAND = 0.1  # width of the band along a border in which events count as near, per sensor size


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
    @lru_cache(maxsize=64)
    def of(cls, model: MotionModel, resolution: tuple[int, int]) -> "BorderBias":
        """Return the bias of a model on a sensor."""
        right, bottom = resolution[0] - 0.5, resolution[1] - 0.5
        steps = (np.arange(_PER_SIDE) + 0.5) / _PER_SIDE
        across, down = -0.5 + steps * resolution[0], -0.5 + steps * resolution[1]
        low, high_x, high_y = (np.full(_PER_SIDE, v) for v in (-0.5, right, bottom))
        # Upper, lower, left, right; the normal of a side points along y or x.
        along_x, _ = displacement_fields(model, np.concatenate((low, high_x)), np.tile(down, 2))
        _, along_y = displacement_fields(model, np.tile(across, 2), np.concatenate((low, high_y)))
        rows = np.concatenate((along_y, along_x)) @ inverse_rates(model, resolution)
        # A segment of a horizontal side has length width / segments: loss (length) / (6 width height).
        rate = np.repeat([1.0 / (6.0 * resolution[1]), 1.0 / (6.0 * resolution[0])], 2 * _PER_SIDE)
        return cls(rows, rate / _PER_SIDE)

    def loss(
        self, scaled: Floats, softness_px: float, density: Floats | None = None
    ) -> tuple[float, Floats]:
        """Return the loss at ``scaled`` and its gradient, shape (m,).

        ``softness_px`` is the sigma of the map; smaller displacements lose nothing. ``density`` is
        the relative event density at the four borders, 1 by default; see `border_density`.
        """
        rate = self.loss_per_px
        rate = rate if density is None else rate * np.repeat(density, _PER_SIDE)
        moved = self.rows @ scaled
        soft = 2.0 * softness_px
        size = np.sqrt(moved * moved + soft * soft)
        return float(rate @ (size - soft)), (rate * moved / size) @ self.rows


def border_density(x: Floats, y: Floats, resolution: tuple[int, int]) -> Floats:
    """Return the relative density near the upper, lower, left, right border, at most 1, (4,)."""
    from evcrisp.kernels.search.array_ops import count_at_ends

    counts = []
    for positions, size in zip((y, x), reversed(resolution), strict=True):
        counts += count_at_ends(positions, _BAND * size, (1.0 - _BAND) * size)
    return np.minimum(np.array(counts) / (_BAND * max(x.size, 1)), 1.0)
