"""The alignment problem of one window: motion parameters in, contrast and its gradient out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.motion import MotionModel, PreparedWarp, prepare
from evcrisp.objectives import Objective
from evcrisp.windows import Window, seconds_since

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WindowData:
    """The events of a window as numbers, ready to be warped again and again."""

    warp: PreparedWarp
    p: NDArray[np.bool_]  # (n,)
    resolution: tuple[int, int]
    duration_s: float

    @classmethod
    def of(cls, window: Window, model: MotionModel) -> "WindowData":
        """Convert once: positions to float64, time to seconds since ``window.t_ref``."""
        events = window.events
        dt = seconds_since(events.t, window.t_ref)
        x, y = events.x.astype(np.float64), events.y.astype(np.float64)
        duration_s = (window.t_end - window.t_start) / 1e6
        return cls(prepare(model, x, y, dt), events.p, events.resolution, duration_s)

    def __len__(self) -> int:
        return self.p.size


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Contrast of the warped events as a function of theta.

    ``weight`` is what each event adds to the map; None stands for one each.
    """

    data: WindowData
    contrast: ContrastMap
    objective: Objective
    weight: Floats | None = None

    def iwe(self, theta: Floats) -> Floats:
        """Return the contrast map at ``theta``."""
        return self._built(*self.data.warp.warp(theta))

    def value(self, theta: Floats) -> float:
        """Return the objective at ``theta``."""
        return self.objective.value(self.iwe(theta))

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient at ``theta``, shape (m,)."""
        x, y = self.data.warp.warp(theta)
        iwe = self._built(x, y)
        slope_x, slope_y = self.contrast.pull_back(self.objective.gradient(iwe), x, y)
        if self.weight is not None:
            slope_x *= self.weight
            slope_y *= self.weight
        return self.objective.value(iwe), self.data.warp.pull(theta, slope_x, slope_y)

    def _built(self, x: Floats, y: Floats) -> Floats:
        weight = np.ones(x.size) if self.weight is None else self.weight
        return self.contrast.build(x, y, weight, self.data.resolution)
