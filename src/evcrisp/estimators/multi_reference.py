"""Alignment judged at several reference times at once."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evcrisp.estimators.alignment import Alignment

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class MultiReference:
    """Weighted mean of the normalized objective at several reference times; eq. (24).

    A motion that gathers the events on a few pixels at one time spreads them at another, which
    makes the collapse of models that can grow less rewarding.

    Attributes
    ----------
    parts : tuple of Alignment
        One for each reference time.
    shares : tuple of float
        What each of them counts; the sum is 1.
    """

    parts: tuple[Alignment, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, alignment: Alignment) -> "MultiReference":
        """Take start, middle and end of the window, the middle twice as much.

        The objective is divided by what it is without motion, so the value there is 1 (or -1,
        for objectives below 0).
        """
        normal, half_s = alignment.normalized(), 0.5 * alignment.data.duration_s
        parts = tuple(replace(normal, data=normal.data.at(s)) for s in (-half_s, 0.0, half_s))
        return cls(parts, (0.25, 0.5, 0.25))

    def iwe(self, theta: Floats) -> Floats:
        """Return the contrast map at the middle one of the reference times."""
        return self.parts[len(self.parts) // 2].iwe(theta)

    def value(self, theta: Floats) -> float:
        """Return the objective at ``theta``."""
        pairs = zip(self.shares, self.parts, strict=True)
        return sum(share * part.value(theta) for share, part in pairs)

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient at ``theta``, shape (m,)."""
        value, gradient = 0.0, np.zeros(np.shape(theta))
        for share, part in zip(self.shares, self.parts, strict=True):
            part_value, part_gradient = part.value_and_gradient(theta)
            value += share * part_value
            gradient += share * part_gradient
        return value, gradient
