"""Variance of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.objectives.protocol import Floats, copied, pixels


@dataclass(frozen=True, slots=True)
class Variance:
    r"""Variance :math:`\frac{1}{P} \sum_p (m_p - \bar m)^2` over all P pixels; eq. (16).

    Not changed by a constant added to the map; grows with the square of the map. The paper's
    objective of alignment.

    Examples
    --------
    >>> import numpy as np
    >>> Variance().value(np.array([[0.0, 2.0], [0.0, 2.0]]))
    1.0
    """

    name: ClassVar[str] = "variance"
    accepts_signed: ClassVar[bool] = True
    per_event: ClassVar[bool] = False
    is_positive: ClassVar[bool] = True

    def value(self, iwe: Floats) -> float:
        """Return the variance; divides by the number of pixels."""
        from evcrisp.kernels.contrast import statistics

        row = pixels(iwe)
        return statistics.mean_square(row, statistics.mean(row))

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe."""
        return self.value_and_gradient(iwe)[1]

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given, which may be ``iwe`` itself."""
        from evcrisp.kernels.contrast import statistics

        out = copied(iwe, out)
        row = out.reshape(-1)
        return statistics.differentiate_mean_square(row, statistics.mean(row)), out
