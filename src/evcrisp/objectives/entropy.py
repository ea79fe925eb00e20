"""Negative entropy of the contrast map."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.core.errors import ConfigError
from evcrisp.objectives.protocol import Floats, copied, pixels


@dataclass(frozen=True, slots=True)
class Entropy:
    r"""Negative Shannon entropy :math:`\sum_p q_p \log q_p` of :math:`q = m / \sum m`; eq. (19).

    Between :math:`-\log P` (all P pixels alike, and an empty map) and 0 (all events on one pixel).
    Not changed by a factor. Pixels below 0 count as 0. Events that leave the map make it sharper
    by this measure, so pad the map.

    Parameters
    ----------
    floor : float, events per px
        Added to a pixel inside the logarithm, which keeps the gradient at empty pixels finite.

    Examples
    --------
    >>> import numpy as np
    >>> round(Entropy().value(np.array([[3.0, 0.0], [3.0, 0.0]])), 4)  # -log 2
    -0.6931
    """

    floor: float = 1e-6

    name: ClassVar[str] = "entropy"
    accepts_signed: ClassVar[bool] = False
    per_event: ClassVar[bool] = False
    is_positive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0.0 < self.floor < 1.0:
            raise ConfigError(f"`floor` must lie between 0 and 1 events per px; got {self.floor}.")

    def value(self, iwe: Floats) -> float:
        """Return the negative entropy, nats."""
        from evcrisp.kernels.contrast import statistics

        return statistics.negative_entropy(pixels(iwe), self.floor)

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe."""
        return self.value_and_gradient(iwe)[1]

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given, which may be ``iwe`` itself."""
        from evcrisp.kernels.contrast import statistics

        out = copied(iwe, out)
        return statistics.differentiate_negative_entropy(out.reshape(-1), self.floor), out
