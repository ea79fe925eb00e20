"""How good a result is, given the truth."""

from evcrisp.metrics.labels import rank_auc, sensitivity, specificity

__all__ = ["rank_auc", "sensitivity", "specificity"]
