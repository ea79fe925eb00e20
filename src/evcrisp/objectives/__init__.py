"""Objectives: how sharp a contrast map is. Larger is sharper, everywhere."""

from evcrisp.objectives.entropy import Entropy
from evcrisp.objectives.gradient_magnitude import GradientMagnitude
from evcrisp.objectives.mean_square import MeanSquare
from evcrisp.objectives.normalized import Normalized
from evcrisp.objectives.poisson import Poisson
from evcrisp.objectives.protocol import Objective
from evcrisp.objectives.sum_of_exponentials import SumOfExponentials
from evcrisp.objectives.variance import Variance

#: Objectives by name. `Normalized` is not among them: it needs a map to compare with.
OBJECTIVES: dict[str, type[Objective]] = {
    Variance.name: Variance,
    MeanSquare.name: MeanSquare,
    GradientMagnitude.name: GradientMagnitude,
    Entropy.name: Entropy,
    SumOfExponentials.name: SumOfExponentials,
    Poisson.name: Poisson,
}

__all__ = [
    "OBJECTIVES",
    "Entropy",
    "GradientMagnitude",
    "MeanSquare",
    "Normalized",
    "Objective",
    "Poisson",
    "SumOfExponentials",
    "Variance",
]
