"""An objective as a multiple of what it is without motion."""

import math
from dataclasses import dataclass
from typing import ClassVar

from evcrisp.core.errors import ConfigError
from evcrisp.objectives.protocol import Floats, Objective


@dataclass(frozen=True, slots=True)
class Normalized:
    r"""Another objective divided by a reference: :math:`f(M) / |f(M_0)|`; eq. (22).

    With the map :math:`M_0` of the events where they are, 1 means that the motion gained nothing.
    Comparable between windows, and what several reference times are added up in. The reference
    is a number, so this is a pure function of one map too.

    Parameters
    ----------
    objective : Objective
        What to divide.
    reference : float, above 0
        What to divide by; see :meth:`of`.

    Examples
    --------
    >>> import numpy as np
    >>> from evcrisp.objectives import Variance
    >>> blurred, sharp = np.array([[1.0, 1.0, 2.0]]), np.array([[0.0, 0.0, 4.0]])
    >>> round(Normalized.of(Variance(), blurred).value(sharp), 6)
    16.0
    """

    objective: Objective
    reference: float

    name: ClassVar[str] = "normalized"

    def __post_init__(self) -> None:
        if not 0.0 < self.reference < math.inf:
            raise ConfigError(
                f"`reference` must be a positive number; got {self.reference}. "
                "Normalized.of(objective, iwe) takes it from a map."
            )

    @classmethod
    def of(cls, objective: Objective, iwe: Floats) -> "Normalized":
        """Divide by the objective of a map, see :meth:`by`."""
        return cls.by(objective, objective.value(iwe))

    @classmethod
    def by(cls, objective: Objective, value: float) -> "Normalized":
        """Divide by the size of a value; by 1 where that is 0 or not finite."""
        size = abs(value)
        return cls(objective, size if 0.0 < size < math.inf else 1.0)

    @property
    def accepts_signed(self) -> bool:
        """Whether maps with values below 0 make sense."""
        return self.objective.accepts_signed

    @property
    def per_event(self) -> bool:
        """Whether maps of different events are compared per event."""
        return self.objective.per_event

    @property
    def is_positive(self) -> bool:
        """Whether it is 0 or more for every map of counts."""
        return self.objective.is_positive

    def value(self, iwe: Floats) -> float:
        """Return the divided value."""
        return self.objective.value(iwe) / self.reference

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe."""
        return self.value_and_gradient(iwe)[1]

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given, which may be ``iwe`` itself."""
        value, gradient = self.objective.value_and_gradient(iwe, out)
        gradient /= self.reference
        return value / self.reference, gradient
