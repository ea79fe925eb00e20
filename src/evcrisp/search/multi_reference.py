"""Alignment with several reference times."""

from dataclasses import dataclass, replace

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.objectives import Objective
from evcrisp.search.alignment import Alignment


def check_positive(objective: Objective) -> None:
    """Raise a `ConfigError` if an objective can be negative: it has no harmonic mean."""
    if not objective.is_positive:
        raise ConfigError(
            f"Several reference times need an objective of 0 or more; {objective.name!r} is below.",
            remedy="Use 'variance' or 'gradient_magnitude'.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class MultiReference:
    r"""Weighted harmonic mean of an objective over several reference times.

    .. math:: F(\theta) = \Bigl(\sum_i s_i \frac{f_0}{f_i(\theta)}\Bigr)^{-1}, \qquad \sum_i s_i = 1

    with the objective :math:`f_i` at reference time i and :math:`f_0` without motion; eq. (23) of
    ``docs/theory/math.md``. A motion that gathers the events on a few pixels at one time scatters them
    at another. The harmonic mean is dominated by the worst time; the arithmetic mean, by the best,
    would reward a collapse. Its maximum minimizes the usual loss, the sum of :math:`f_0 / f_i`.

    References
    ----------
    S. Shiba, Y. Aoki, G. Gallego, "Secrets of event-based optical flow", ECCV 2022.
    """

    parts: tuple[Alignment, ...]  # normalized alignment at each reference time
    shares: tuple[float, ...]  # their weights s_i

    @classmethod
    def of(cls, alignment: Alignment) -> "MultiReference":
        """Use start, middle and end of the window; the middle has twice the weight."""
        check_positive(alignment.objective)
        normal, half_s = alignment.normalized(), 0.5 * alignment.data.duration_s
        parts = tuple(replace(normal, data=normal.data.at(s)) for s in (-half_s, 0.0, half_s))
        return cls(parts, (0.25, 0.5, 0.25))

    def iwe(self, theta: Floats) -> Floats:
        """Return the contrast map at the middle reference time."""
        return self.parts[len(self.parts) // 2].iwe(theta)

    def value(self, theta: Floats) -> float:
        """Return the mean at ``theta``; 1 without motion, 0 if one value is 0."""
        return self._mean([part.value(theta) for part in self.parts])

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the mean and its gradient at ``theta``, shape (m,)."""
        found = [part.value_and_gradient(theta) for part in self.parts]
        mean = self._mean([value for value, _ in found])
        if mean == 0.0:
            return 0.0, np.zeros(np.shape(theta))
        total = np.zeros(np.shape(theta))
        for share, (value, gradient) in zip(self.shares, found, strict=True):
            total += share * (mean / value) ** 2 * gradient
        return mean, total

    def _mean(self, values: list[float]) -> float:
        if min(values) <= 0.0:
            return 0.0
        return 1.0 / sum(share / value for share, value in zip(self.shares, values, strict=True))
