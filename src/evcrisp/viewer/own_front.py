"""Pareto front with the constants of a method, and the method's own point on it."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from evcrisp.contrast.contrast_map import event_peak
from evcrisp.core.types import Floats
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.pareto import ParetoFront, pareto_front
from evcrisp.estimators.joint.problem import RegretConfig
from evcrisp.estimators.result import Estimate
from evcrisp.motion import MotionModel

#: Least threshold of a front, in multiples of a single event: below it, W is 1 everywhere.
MIN_SUPPORT = 0.5


@dataclass(frozen=True, slots=True)
class OwnFront:
    """A front, and the costs of the result of a method in the same problem."""

    front: ParetoFront
    method: str
    cost_ea: float
    cost_ed: float

    @classmethod
    def of(cls, result: Estimate, model: MotionModel, n_points: int) -> "OwnFront":
        """Trace the front of a window with the constants of the method that gave ``result``."""
        config = constants_of(result)
        front = pareto_front(result.window, model, config, n_points=n_points)
        return cls(front, getattr(result.config, "name", ""), *costs_of(result, front))

    def facts(self) -> dict[str, Any]:
        """Return the point of the method as JSON types."""
        return {"own": {"method": self.method, "cost_ea": self.cost_ea, "cost_ed": self.cost_ed}}


def constants_of(result: Estimate) -> ExactRegret:
    """Return the constants of the joint objective that belong to a method.

    "exact" and "paper" state them. Of others, the threshold is that which keeps as many events as the
    method does, so that both are compared at the same share of kept events.
    """
    method = result.config
    if isinstance(method, ExactRegret):
        return method
    if isinstance(method, RegretConfig):
        return ExactRegret(**{f.name: getattr(method, f.name) for f in fields(RegretConfig)})
    contrast = ExactRegret().contrast
    if not result.signal.any() or result.signal.all():
        return ExactRegret()
    used = (~hot_events(result.window.events)).astype(np.float64)
    aligned = result.aligned_x, result.aligned_y
    iwe = contrast.build(*aligned, used, result.window.events.resolution)
    values = contrast.sample(iwe, *aligned)[used > 0.0]
    threshold = float(np.quantile(values, 1.0 - result.signal.mean()))
    return ExactRegret(min_support=max(threshold / event_peak(contrast), MIN_SUPPORT))


def costs_of(result: Estimate, front: ParetoFront) -> tuple[float, float]:
    """Return the penalized costs of alignment and denoising at a result, as of points of a front.

    W times the map is the map of events times their confidence.
    """
    problem, terms = front.problem, front.problem.terms
    used = (~hot_events(result.window.events)).astype(np.float64)
    iwe, kept = (_map_of(result, front, weights) for weights in (used, used * result.confidence))
    w_map = np.divide(kept, iwe, out=np.zeros_like(iwe), where=iwe > 1e-9)
    loss = float(((kept - iwe) ** 2).sum())
    penalty = problem.terms.alpha * float(w_map.sum()) + terms.beta * loss
    return penalty - float(iwe.var()), penalty + float(kept.var())


def _map_of(result: Estimate, front: ParetoFront, weights: Floats) -> Floats:
    resolution = result.window.events.resolution
    return front.problem.contrast.build(result.aligned_x, result.aligned_y, weights, resolution)
