"""Mean square of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.objectives.protocol import Floats, copied, pixels


@dataclass(frozen=True, slots=True)
class MeanSquare:
    r"""Mean square :math:`\frac{1}{P} \sum_p m_p^2` over all P pixels; eq. (17).

    The variance plus the square of the mean: the same objective as long as no event leaves the
    map, and one that keeps events inside where they could leave.

    Examples
    --------
    >>> import numpy as np
    >>> MeanSquare().value(np.array([[0.0, 2.0], [0.0, 2.0]]))
    2.0
    """

    name: ClassVar[str] = "mean_square"
    accepts_signed: ClassVar[bool] = True
    per_event: ClassVar[bool] = False
    is_positive: ClassVar[bool] = True

    def value(self, iwe: Floats) -> float:
        """Return the mean square."""
        from evcrisp.kernels.contrast import statistics

        return statistics.mean_square(pixels(iwe), 0.0)

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe."""
        return self.value_and_gradient(iwe)[1]

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given, which may be ``iwe`` itself."""
        from evcrisp.kernels.contrast import statistics

        out = copied(iwe, out)
        return statistics.differentiate_mean_square(out.reshape(-1), 0.0), out
