"""Mean of the exponential of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.core.errors import ConfigError
from evcrisp.objectives.protocol import Floats, copied, pixels


@dataclass(frozen=True, slots=True)
class SumOfExponentials:
    r"""Mean :math:`\frac{1}{P} \sum_p e^{m_p}`, with a tangent instead above ``limit``; eq. (20).

    Looks at the highest pixels almost alone: sensitive to noise and to hot pixels.

    Parameters
    ----------
    limit : float, events per px, 1 to 100
        Above it :math:`e^m` goes on as :math:`e^l (1 + m - l)`, so that no map overflows and every
        map has a gradient.

    Examples
    --------
    >>> import numpy as np
    >>> SumOfExponentials().value(np.zeros((2, 2)))
    1.0
    """

    limit: float = 20.0

    name: ClassVar[str] = "sum_of_exponentials"
    accepts_signed: ClassVar[bool] = True
    per_event: ClassVar[bool] = False
    is_positive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 1.0 <= self.limit <= 100.0:
            raise ConfigError(f"`limit` must lie in 1..100 events per px; got {self.limit}.")

    def value(self, iwe: Floats) -> float:
        """Return the mean exponential."""
        from evcrisp.kernels.contrast import statistics

        return statistics.mean_exponential(pixels(iwe), self.limit)

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe."""
        return self.value_and_gradient(iwe)[1]

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given, which may be ``iwe`` itself."""
        from evcrisp.kernels.contrast import statistics

        out = copied(iwe, out)
        return statistics.differentiate_mean_exponential(out.reshape(-1), self.limit), out
