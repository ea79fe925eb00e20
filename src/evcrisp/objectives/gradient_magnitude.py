"""Mean squared gradient of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.objectives.protocol import KernelObjective


@dataclass(frozen=True, slots=True)
class GradientMagnitude(KernelObjective):
    r"""Mean squared magnitude of the Sobel gradient of the map; eq. (18).

    :math:`\frac{1}{P} \sum_p (S_x m)_p^2 + (S_y m)_p^2`, with gradient 0 on the outermost pixels.
    Invariant to an added constant. Weighs fine structure more than the variance.

    A ramp of 3 per pixel: the two inner pixels of twelve have slope 3.

    >>> GradientMagnitude().value(np.array(3 * [[0.0, 3.0, 6.0, 9.0]]))
    1.5
    """

    name: ClassVar[str] = "gradient_magnitude"

    def _evaluate(self, image: Floats, differentiate: bool) -> float:
        from evcrisp.kernels.contrast import sobel

        if not differentiate:
            return sobel.mean_square_slope(image)
        return sobel.differentiate_mean_square_slope(image, np.zeros((6, image.shape[1] + 2)))
