"""Hot pixels of a recording: too slow to stand out in one window, absurd over a second."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.hot_pixels import of_hot_pixels
from evcrisp.estimators.result import Estimate, Estimator
from evcrisp.motion import MotionModel
from evcrisp.search.window_data import WindowData

#: Events count for a time constant of this length. A pixel of 20 Hz is then told from noise of 1 Hz.
MEMORY_US = 1_000_000


@dataclass(slots=True, eq=False)
class HotHistory:
    """Counts of the last second, pixel by pixel; windows come in order and may overlap."""

    resolution: tuple[int, int]
    counts: NDArray[np.float32] = field(init=False)  # (h, w)
    n_seen: int = 0
    t_last: int = 0

    def __post_init__(self) -> None:
        self.counts = np.zeros((self.resolution[1], self.resolution[0]), np.float32)

    def mark(self, window: Window) -> NDArray[np.bool_]:
        """Count the new events of a window; return which of all its events are hot, shape (n,)."""
        from evcrisp.kernels.auto.hot_pixels import count_pixels

        events = window.events.contiguous()
        if self.n_seen:
            self.counts *= math.exp(-max(window.t_end - self.t_last, 0) / MEMORY_US)
        self.t_last = max(self.t_last, window.t_end)
        new = events[max(self.n_seen - window.index, 0) :]
        self.n_seen = max(self.n_seen, window.index + len(events))
        count_pixels(new.x, new.y, self.counts)
        return of_hot_pixels(events.x, events.y, self.counts)


def run_without(
    estimator: Estimator,
    window: Window,
    model: MotionModel,
    theta0: Floats | None,
    hot: NDArray[np.bool_],
) -> Estimate:
    """Run on the events that are not hot; the others are noise in the result.

    They get the lowest score and no confidence.
    """
    if not hot.any():
        return estimator.run(window, model, theta0)
    result = estimator.run(replace(window, events=window.events[~hot]), model, theta0)

    def spread(values: Floats, fill: float) -> Floats:
        out = np.full(hot.size, fill)
        out[~hot] = values
        return out

    signal = np.zeros(hot.size, np.bool_)
    signal[~hot] = result.signal
    aligned_x, aligned_y = WindowData.of(window, model).warp.warp(result.theta)
    return replace(
        result,
        window=window,
        signal=signal,
        score=spread(result.score, min(float(result.score.min(initial=0.0)), 0.0)),
        confidence=spread(result.confidence, 0.0),
        aligned_x=aligned_x,
        aligned_y=aligned_y,
    )
