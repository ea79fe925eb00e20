"""Objectives: how sharp a contrast map is. Larger is sharper, everywhere."""

from evcrisp.objectives._protocol import Objective
from evcrisp.objectives.variance import Variance

#: Objectives by name.
OBJECTIVES: dict[str, type[Objective]] = {Variance.name: Variance}

__all__ = ["OBJECTIVES", "Objective", "Variance"]
