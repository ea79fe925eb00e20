"""Methods that find the motion of a window, label its events, or both: where the parts meet."""

from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.result import Estimate, Estimator, Regret

__all__ = ["ESTIMATORS", "Estimate", "Estimator", "Regret"]
