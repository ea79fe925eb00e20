"""The edge of the sensor: a sharp frame at rest that blurs with every motion.

Events fill the view of the sensor. Warped with a motion, they fill a view with soft borders, so that
contrast is lost whatever the scene shows, and the sharpest motion is found a little too slow. The
loss is known, so it can be given back.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel
from evcrisp.search.scaling import displacement_fields, displacement_rates

_PER_SIDE = 8
_BAND = 0.1  # of the width or height: what counts as near a border


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    r"""Loss of contrast at the border of the sensor, as a function of scaled parameters.

    A border that moves by e px within the window becomes a ramp of that width around its middle
    place: the square of a ramp sums up to e / 3 where a sharp border leaves e / 2. So the log of the
    sum of squares of a map with evenly spread content loses
    :math:`\frac{1}{6 A} \oint |e_n| \, ds` for a view of area A.
    """

    rows: Floats  # (k, m): movement of pieces of the border across it, px per unit of u
    share: Floats  # (k,): loss per px of movement

    @classmethod
    def of(cls, model: MotionModel, resolution: tuple[int, int]) -> "Frame":
        """Return the frame of a sensor under a model."""
        return _frame(model, resolution)

    def loss(
        self, scaled: Floats, softness_px: float, density: Floats | None = None
    ) -> tuple[float, Floats]:
        """Return the loss at ``u`` and its gradient, shape (m,).

        Parameters
        ----------
        scaled : ndarray, shape (m,)
            Parameters as `Scaling` makes them.
        softness_px : float, px
            Sigma of the map's kernel; movements below it lose nothing yet.
        density : ndarray, shape (4,), optional
            How full the view is at its upper, lower, left and right border; 1 where not given.
        """
        share = self.share if density is None else self.share * np.repeat(density, _PER_SIDE)
        moved = self.rows @ scaled
        soft = 2.0 * softness_px
        size = np.sqrt(moved * moved + soft * soft)
        return float(share @ (size - soft)), (share * moved / size) @ self.rows


def border_density(x: Floats, y: Floats, resolution: tuple[int, int]) -> Floats:
    """Return the density of events near each border relative to the mean, at most 1, shape (4,).

    The order is upper, lower, left, right. A scene that does not reach a border loses nothing there.
    """
    from evcrisp.kernels.search.array_ops import count_at_ends

    counts = []
    for places, size in zip((y, x), reversed(resolution), strict=True):
        counts += count_at_ends(places, _BAND * size, (1.0 - _BAND) * size)
    return np.minimum(np.array(counts) / (_BAND * max(x.size, 1)), 1.0)


@lru_cache(maxsize=64)
def _frame(model: MotionModel, resolution: tuple[int, int]) -> Frame:
    right, bottom = resolution[0] - 0.5, resolution[1] - 0.5
    steps = (np.arange(_PER_SIDE) + 0.5) / _PER_SIDE
    across, down = -0.5 + steps * resolution[0], -0.5 + steps * resolution[1]
    low, high_x, high_y = (np.full(_PER_SIDE, v) for v in (-0.5, right, bottom))
    # Above, below, left, right; the normal of a side points along y or x.
    along_x, _ = displacement_fields(model, np.concatenate((low, high_x)), np.tile(down, 2))
    _, along_y = displacement_fields(model, np.tile(across, 2), np.concatenate((low, high_y)))
    rows = np.concatenate((along_y, along_x)) @ np.linalg.inv(displacement_rates(model, resolution))
    # Each piece of a horizontal side has the share (width / pieces) / (6 width height) of the loss.
    share = np.repeat([1.0 / (6.0 * resolution[1]), 1.0 / (6.0 * resolution[0])], 2 * _PER_SIDE)
    return Frame(rows, share / _PER_SIDE)
