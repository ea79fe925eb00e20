"""Labels, scores and warnings from a solution of the joint problem."""

from dataclasses import dataclass

import numpy as np

from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.joint.confidence_map import Confidence
from evcrisp.estimators.joint.problem import JointProblem, RegretConfig
from evcrisp.estimators.result import Estimate, Regret, estimate_from_solver
from evcrisp.motion import MotionModel
from evcrisp.optimize import SolverResult
from evcrisp.search.window_data import WindowData

#: An event is signal if its confidence exceeds this value, as in the paper.
MIN_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class JointWindow:
    """A window and its joint problem, which excludes hot pixels."""

    window: Window
    data: WindowData  # all events
    hot: Bools  # (n,) events of hot pixels
    problem: JointProblem  # of the other events

    @classmethod
    def from_window(cls, window: Window, model: MotionModel, config: RegretConfig) -> "JointWindow":
        """Find the hot pixels of a window, and state the problem without them."""
        data, hot = WindowData.of(window, model), hot_events(window.events)
        clean = data.subset(~hot) if hot.any() else data
        return cls(window, data, hot, JointProblem.from_data(clean, config))

    def read_maps(self, theta: Floats, w_map: Floats, best: Confidence) -> tuple[Floats, Floats]:
        """Return score and confidence of each event: both maps, read at the warped events.

        Events that the warp moves off the padded map are read at their raw position, on the
        contrast map of the raw events, with the same function w(m). Hot pixels read 0.
        """
        contrast, resolution = self.problem.contrast, self.data.resolution
        x, y = self.data.warp.warp(theta)
        score = contrast.sample(best.iwe, x, y)
        confidence = np.clip(contrast.sample(w_map, x, y), 0.0, 1.0)
        # A map of ones reads 1 where the whole footprint lies inside.
        outside = contrast.sample(np.ones(best.iwe.shape), x, y) < 0.5
        if outside.any():
            raw_x = self.window.events.x.astype(np.float64)
            raw_y = self.window.events.y.astype(np.float64)
            raw = contrast.build(raw_x, raw_y, np.where(self.hot, 0.0, 1.0), resolution)
            score[outside] = contrast.sample(raw, raw_x[outside], raw_y[outside])
            confidence[outside] = best.at(score[outside])
        score[self.hot] = confidence[self.hot] = 0.0
        return score, confidence

    def build_estimate(
        self,
        config: RegretConfig,
        end: SolverResult,
        *,
        w_map: Floats | None = None,
        regret: Regret | None = None,
    ) -> Estimate:
        """Return the estimate at a motion; W and regret default to their best values there."""
        best = self.problem.solve(end.theta)
        w_map = best.w_map() if w_map is None else w_map
        regret = best.regret() if regret is None else regret
        score, confidence = self.read_maps(end.theta, w_map, best)
        signal = confidence > MIN_CONFIDENCE
        return estimate_from_solver(
            config, self.window, self.data, end, score, signal, confidence,
            w_map=w_map, regret=regret, warnings=_warnings(regret, signal),
        )  # fmt: skip


def _warnings(regret: Regret, signal: Bools) -> tuple[str, ...]:
    """Warn if denoising determines the motion, or influences it and keeps no event."""
    if regret.lam >= 1.0:
        problem = "Denoising has the larger regret (lam = 1)"
    elif regret.lam > 0.0 and not signal.any():
        problem = "Denoising has the same regret as alignment (lam above 0) and keeps no event"
    else:
        return ()
    # No numbers in the text: summaries of a recording count equal warnings.
    return (
        f"{problem}, which moves the motion away from alignment. Raise `b_ea` or `b_hat` until b_EA "
        "is above the contrast of aligned events (`regret.f_ea` at lam = 0), or use the default.",
    )
