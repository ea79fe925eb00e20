"""Variance of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.core.types import Floats
from evcrisp.objectives.protocol import KernelObjective


@dataclass(frozen=True, slots=True)
class Variance(KernelObjective):
    r"""Variance :math:`\frac{1}{P} \sum_p (m_p - \bar m)^2` over all P pixels; eq. (16).

    The paper's alignment objective. Invariant to an added constant; quadratic in a factor.

    >>> import numpy as np
    >>> Variance().value(np.array([[0.0, 2.0], [0.0, 2.0]]))
    1.0
    """

    name: ClassVar[str] = "variance"

    def _evaluate(self, image: Floats, differentiate: bool) -> float:
        from evcrisp.kernels.contrast import statistics as kernels

        flat = image.reshape(-1)
        kernel = kernels.differentiate_mean_square if differentiate else kernels.mean_square
        return kernel(flat, kernels.mean(flat))
