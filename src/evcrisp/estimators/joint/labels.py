"""From a solution of the joint problem to labels, scores and warnings."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.joint.confidence_map import Confidence
from evcrisp.estimators.joint.problem import JointProblem, RegretConfig
from evcrisp.estimators.result import Estimate, Regret
from evcrisp.motion import MotionModel
from evcrisp.optimize import SolverResult
from evcrisp.search.window_data import WindowData

#: An event is kept if its confidence exceeds this, as in the paper.
KEEP_ABOVE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class EventReadings:
    """What the maps say at each event: the score, and the confidence W."""

    score: Floats  # (n,) value of the contrast map; 0 for hot pixels
    confidence: Floats  # (n,) 0..1; 0 for hot pixels


@dataclass(frozen=True, slots=True, eq=False)
class JointWindow:
    """A window and its joint problem, in which hot pixels have no part."""

    window: Window
    data: WindowData  # all events
    hot: Bools  # (n,) which of them come from hot pixels
    problem: JointProblem  # of the others

    @classmethod
    def of(cls, window: Window, model: MotionModel, config: RegretConfig) -> "JointWindow":
        """Find the hot pixels of a window, and state the problem of all others."""
        data, hot = WindowData.of(window, model), hot_events(window.events)
        cool = data.subset(~hot) if hot.any() else data
        return cls(window, data, hot, JointProblem.of(cool, config))

    def read(self, theta: Floats, w_map: Floats, best: Confidence) -> EventReadings:
        """Read contrast and confidence at the warped events.

        Events that the warp takes off the padded map have no evidence there. They are judged where
        the sensor saw them, on the contrast map of the unwarped pixels, by the same rule w(m): they
        stay if the pixels around them fired often enough, and are never noise just for having left.
        """
        contrast, resolution = self.problem.contrast, self.data.resolution
        x, y = self.data.warp.warp(theta)
        score = contrast.sample(best.iwe, x, y)
        confidence = np.clip(contrast.sample(w_map, x, y), 0.0, 1.0)
        # A map of ones reads as 1 wherever a footprint lies inside.
        left = contrast.sample(np.ones(best.iwe.shape), x, y) < 0.5
        if left.any():
            raw_x = self.window.events.x.astype(np.float64)
            raw_y = self.window.events.y.astype(np.float64)
            raw = contrast.build(raw_x, raw_y, np.where(self.hot, 0.0, 1.0), resolution)
            score[left] = contrast.sample(raw, raw_x[left], raw_y[left])
            confidence[left] = best.at(score[left])
        score[self.hot] = confidence[self.hot] = 0.0
        return EventReadings(score, confidence)

    def conclude(
        self,
        config: RegretConfig,
        end: SolverResult,
        *,
        w_map: Floats | None = None,
        regret: Regret | None = None,
    ) -> Estimate:
        """Return the result of a method; W and regret are the best at its motion if not given."""
        best = self.problem.solve(end.theta)
        w_map = best.w_map() if w_map is None else w_map
        regret = best.regret() if regret is None else regret
        readings = self.read(end.theta, w_map, best)
        aligned_x, aligned_y = self.data.warp.warp(end.theta)
        signal = readings.confidence > KEEP_ABOVE
        return Estimate(
            theta=end.theta,
            signal=signal,
            score=readings.score,
            confidence=readings.confidence,
            aligned_x=aligned_x,
            aligned_y=aligned_y,
            status=end.status,
            motion=self.data.warp.model,
            window=self.window,
            config=config,
            n_eval=end.n_eval,
            w_map=w_map,
            regret=regret,
            warnings=_warnings(regret, signal),
        )


def _warnings(regret: Regret, signal: NDArray[np.bool_]) -> tuple[str, ...]:
    """Say so if denoising decides about the motion, or has a part and leaves nothing."""
    if regret.lam >= 1.0:
        what = "Denoising has the larger regret (lam = 1)"
    elif regret.lam > 0.0 and not signal.any():
        what = "Denoising has as large a regret as alignment (lam above 0) and keeps no event"
    else:
        return ()
    # Without numbers: a summary counts equal warnings of a long recording.
    return (
        f"{what}, which pushes the motion away from alignment. Raise `b_ea` or `b_hat` until b_EA is "
        "above the contrast of aligned events (`regret.f_ea` at lam = 0), or leave both out.",
    )
