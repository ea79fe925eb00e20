"""Objective relative to its value without motion."""

import math
from dataclasses import dataclass
from typing import ClassVar

from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.objectives.protocol import Objective


@dataclass(frozen=True, slots=True)
class Normalized:
    r"""Another objective divided by a reference: :math:`f(M) / |f(M_0)|`; eq. (22).

    With the map :math:`M_0` of the unwarped events, 1 means that the motion gains nothing.
    Comparable between windows and reference times.

    Parameters
    ----------
    objective : Objective
        Objective to divide.
    reference : float, above 0
        Divisor; see :meth:`of`.

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
        remedy = "Normalized.of(objective, iwe) computes it from a map."
        check_number("reference", self.reference, 0, open_low=True, remedy=remedy)

    @classmethod
    def of(cls, objective: Objective, iwe: Floats) -> "Normalized":
        """Divide by the objective of a map; see :meth:`by`."""
        return cls.by(objective, objective.value(iwe))

    @classmethod
    def by(cls, objective: Objective, value: float) -> "Normalized":
        """Divide by the magnitude of a value; by 1 if 0 or not finite."""
        size = abs(value)
        return cls(objective, size if 0.0 < size < math.inf else 1.0)

    @property
    def accepts_signed(self) -> bool:
        """Whether maps can have values below 0."""
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
