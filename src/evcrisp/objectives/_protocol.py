"""What an objective offers: a number for a contrast map, larger for sharper, and its gradient."""

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Objective(Protocol):
    """A pure function of one contrast map; a frozen dataclass."""

    name: ClassVar[str]

    def value(self, iwe: Floats) -> float:
        """Return the statistic of a map, shape (h, w); larger is sharper."""
        ...

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe, shape (h, w)."""
        ...
