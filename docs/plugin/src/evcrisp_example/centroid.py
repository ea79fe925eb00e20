"""Estimator: velocity of the centroid of the events."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp import Estimate, Status, Window
from evcrisp.motion import MotionModel


@dataclass(frozen=True, kw_only=True)
class Centroid:
    """Fit a line to the positions of the events over time; keep every event.

    Only for the motion model "translation", and for one small object without noise.

    Parameters
    ----------
    min_events : int
        Windows with fewer events have no motion.
    """

    name: ClassVar[str] = "centroid"

    min_events: int = 10

    def run(self, window: Window, model: MotionModel, theta0: np.ndarray | None = None) -> Estimate:
        """Estimate the motion of one window."""
        events = window.events
        n = len(events)
        x, y = events.x.astype(np.float64), events.y.astype(np.float64)
        dt = (events.t - window.t_ref) / 1e6
        theta, status = np.zeros(len(model.param_names)), Status.TOO_FEW_EVENTS
        if model.name == "translation" and n >= self.min_events and dt[0] < dt[-1]:
            theta = np.array([np.polyfit(dt, x, 1)[0], np.polyfit(dt, y, 1)[0]])
            status = Status.CONVERGED
        aligned_x, aligned_y = model.warp(theta, x, y, dt)
        return Estimate(
            theta=theta,
            signal=np.ones(n, np.bool_),
            score=np.ones(n),
            confidence=np.ones(n),
            aligned_x=aligned_x,
            aligned_y=aligned_y,
            status=status,
            motion=model,
            window=window,
            config=self,
        )
