"""Mean of the exponential of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.objectives.protocol import KernelObjective


@dataclass(frozen=True, slots=True)
class SumOfExponentials(KernelObjective):
    r"""Mean :math:`\frac{1}{P} \sum_p e^{m_p}`, linear above ``limit``; eq. (20).

    Dominated by the highest pixels: sensitive to noise and to hot pixels.

    Parameters
    ----------
    limit : float, events per px, 1 to 100
        Above it :math:`e^m` continues as its tangent :math:`e^l (1 + m - l)`, without overflow.

    Examples
    --------
    >>> import numpy as np
    >>> SumOfExponentials().value(np.zeros((2, 2)))
    1.0
    """

    limit: float = 20.0

    name: ClassVar[str] = "sum_of_exponentials"

    def __post_init__(self) -> None:
        check_number("limit", self.limit, 1, 100)

    def _evaluate(self, image: Floats, differentiate: bool) -> float:
        from evcrisp.kernels.contrast import statistics as kernels

        kernel = (
            kernels.differentiate_mean_exponential if differentiate else kernels.mean_exponential
        )
        return kernel(image.reshape(-1), self.limit)
