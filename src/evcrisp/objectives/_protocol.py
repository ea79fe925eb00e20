"""What an objective offers: a number for a contrast map, larger for sharper, and its gradient."""

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Objective(Protocol):
    """A pure function of one contrast map; a frozen dataclass."""

    name: ClassVar[str]
    accepts_signed: ClassVar[bool]  # whether maps with values below 0 make sense

    def value(self, iwe: Floats) -> float:
        """Return the statistic of a map, shape (h, w); larger is sharper."""
        ...

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe, shape (h, w)."""
        ...

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given, which may be ``iwe`` itself."""
        ...


def pixels(image: Floats) -> Floats:
    """Return a map as one row of pixels for the kernels; a view, unless it has gaps."""
    return np.ascontiguousarray(image, np.float64).reshape(-1)


def copied(iwe: Floats, out: Floats | None) -> Floats:
    """Return the map in the array in which its gradient shall replace it."""
    if out is None:
        return np.array(iwe, np.float64, order="C")
    if out is not iwe:
        out[...] = iwe
    return out
