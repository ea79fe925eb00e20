"""Variance of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Variance:
    r"""Variance :math:`\frac{1}{P} \sum_p (m_p - \bar m)^2` over all P pixels of the map."""

    name: ClassVar[str] = "variance"

    def value(self, iwe: Floats) -> float:
        """Return the variance; divides by the number of pixels."""
        return float(np.var(iwe))

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe."""
        return (iwe - iwe.mean()) * (2.0 / iwe.size)
