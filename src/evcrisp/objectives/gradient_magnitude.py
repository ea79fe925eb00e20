"""Mean squared slope of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.objectives.protocol import Floats, copied


@dataclass(frozen=True, slots=True)
class GradientMagnitude:
    r"""Mean squared magnitude of the map's slope by Sobel's filters; eq. (18).

    :math:`\frac{1}{P} \sum_p (S_x m)_p^2 + (S_y m)_p^2`, where the outermost frame of pixels has no
    slope. Not changed by a constant added to the map. Weighs fine structure more than the
    variance does.

    Examples
    --------
    A ramp of 3 per pixel: the two inner pixels of twelve have slope 3.

    >>> GradientMagnitude().value(np.array(3 * [[0.0, 3.0, 6.0, 9.0]]))
    1.5
    """

    name: ClassVar[str] = "gradient_magnitude"
    accepts_signed: ClassVar[bool] = True
    per_event: ClassVar[bool] = False
    is_positive: ClassVar[bool] = True

    def value(self, iwe: Floats) -> float:
        """Return the mean squared slope."""
        from evcrisp.kernels.contrast import sobel

        return sobel.mean_square_slope(np.ascontiguousarray(iwe, np.float64))

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe."""
        return self.value_and_gradient(iwe)[1]

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given, which may be ``iwe`` itself."""
        from evcrisp.kernels.contrast import sobel

        out = copied(iwe, out)
        lines = np.zeros((6, iwe.shape[1] + 2))
        return sobel.differentiate_mean_square_slope(out, lines), out
