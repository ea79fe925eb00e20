"""Negative entropy of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.objectives.protocol import KernelObjective


@dataclass(frozen=True, slots=True)
class Entropy(KernelObjective):
    r"""Negative Shannon entropy :math:`\sum_p q_p \log q_p` of :math:`q = m / \sum m`; eq. (19).

    From :math:`-\log P` (P equal pixels, or an empty map) to 0 (all events on one pixel), in nats.
    Invariant to a factor. Pixels below 0 count as 0. Pad the map: lost events increase it.

    Parameters
    ----------
    floor : float, events per px
        Added to a pixel inside the logarithm; keeps the gradient at empty pixels finite.

    Examples
    --------
    >>> import numpy as np
    >>> round(Entropy().value(np.array([[3.0, 0.0], [3.0, 0.0]])), 4)  # -log 2
    -0.6931
    """

    floor: float = 1e-6

    name: ClassVar[str] = "entropy"
    accepts_signed: ClassVar[bool] = False
    is_positive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0.0 < self.floor < 1.0:
            problem = "must be between 0 and 1 event per px"
            raise ConfigError(problem, parameter="floor", value=self.floor)

    def _evaluate(self, image: Floats, differentiate: bool) -> float:
        from evcrisp.kernels.contrast import statistics as kernels

        kernel = (
            kernels.differentiate_negative_entropy if differentiate else kernels.negative_entropy
        )
        return kernel(image.reshape(-1), self.floor)
