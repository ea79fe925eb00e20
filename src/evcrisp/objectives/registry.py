"""Objectives by name."""

from evcrisp.core.registry import Registry
from evcrisp.objectives.protocol import Objective

#: Objectives by name, without `Normalized`, which needs a map as reference.
OBJECTIVES: Registry[type[Objective]] = Registry(
    "objective",
    {
        "variance": "evcrisp.objectives.variance:Variance",
        "mean_square": "evcrisp.objectives.mean_square:MeanSquare",
        "gradient_magnitude": "evcrisp.objectives.gradient_magnitude:GradientMagnitude",
        "entropy": "evcrisp.objectives.entropy:Entropy",
        "sum_of_exponentials": "evcrisp.objectives.sum_of_exponentials:SumOfExponentials",
        "poisson": "evcrisp.objectives.poisson:Poisson",
    },
    group="evcrisp.objectives",
)
