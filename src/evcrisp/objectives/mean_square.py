"""Mean square of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.core.types import Floats
from evcrisp.objectives.protocol import KernelObjective


@dataclass(frozen=True, slots=True)
class MeanSquare(KernelObjective):
    r"""Mean square :math:`\frac{1}{P} \sum_p m_p^2` over all P pixels; eq. (17).

    The variance plus the squared mean: equivalent as long as no event leaves the map. Otherwise it
    favors motions that keep events on the map.

    >>> import numpy as np
    >>> MeanSquare().value(np.array([[0.0, 2.0], [0.0, 2.0]]))
    2.0
    """

    name: ClassVar[str] = "mean_square"

    def _evaluate(self, image: Floats, differentiate: bool) -> float:
        from evcrisp.kernels.contrast import statistics as kernels

        kernel = kernels.differentiate_mean_square if differentiate else kernels.mean_square
        return kernel(image.reshape(-1), 0.0)
