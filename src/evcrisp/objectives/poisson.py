"""Log-likelihood of the contrast map as counts of a Poisson process of unknown rates."""

import math
from dataclasses import dataclass
from typing import ClassVar

from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.objectives.protocol import KernelObjective


@dataclass(frozen=True, slots=True)
class Poisson(KernelObjective):
    r"""Mean log-likelihood of the pixels as negative binomial counts; eq. (21).

    Every pixel of an aligned map has its own event rate; with gamma-distributed rates the counts
    are negative binomial. Extended to fractional counts by the gamma function; pixels below 0
    count as 0. Meant for one map per polarity. About five times the cost of the other objectives.

    Parameters
    ----------
    r, beta : float, 0.001 to 1000
        Shape and rate of the gamma distribution of the rates.

    References
    ----------
    C. Gu, E. Learned-Miller, D. Sheldon, G. Gallego, P. Bideau, "The spatio-temporal Poisson
    point process: a simple model for the alignment of event camera data", ICCV 2021.

    Examples
    --------
    Two events on one pixel of two are more likely than one on each.

    >>> import numpy as np
    >>> Poisson().value(np.array([[2.0, 0.0]])) > Poisson().value(np.array([[1.0, 1.0]]))
    True
    """

    r: float = 0.1
    beta: float = 1.59

    name: ClassVar[str] = "poisson"
    accepts_signed: ClassVar[bool] = False
    per_event: ClassVar[bool] = True
    is_positive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("r", "beta"):
            check_number(name, getattr(self, name), 1e-3, 1e3)

    def _evaluate(self, image: Floats, differentiate: bool) -> float:
        from evcrisp.kernels.contrast import negative_binomial as kernels

        kernel = kernels.differentiate_log_likelihood if differentiate else kernels.log_likelihood
        fall = math.log1p(self.beta)  # decrease per event
        rest = self.r * (math.log(self.beta) - fall) - math.lgamma(self.r)  # constant terms
        return kernel(image.reshape(-1), self.r, fall, rest)
