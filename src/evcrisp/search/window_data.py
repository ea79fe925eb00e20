"""Events of a window as arrays of numbers, prepared for repeated warps."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evcrisp.core.types import Bools
from evcrisp.core.windows import Window
from evcrisp.motion import MotionModel, PreparedWarp, prepare
from evcrisp.search.freed_memory import keep_freed_memory


@dataclass(frozen=True, slots=True, eq=False)
class WindowData:
    """Events of a window as numbers, prepared for repeated warps."""

    warp: PreparedWarp
    p: Bools  # (n,)
    resolution: tuple[int, int]
    duration_s: float

    @classmethod
    def of(cls, window: Window, model: MotionModel) -> "WindowData":
        """Convert positions to float64 and time to seconds since ``window.t_ref``."""
        from evcrisp.kernels.search.array_ops import to_floats

        keep_freed_memory()
        events = window.events.contiguous()
        columns = tuple(np.empty(len(events)) for _ in range(3))
        to_floats(events.x, events.y, events.t, window.t_ref, *columns)
        duration_s = (window.t_end - window.t_start) / 1e6
        return cls(
            prepare(model, *columns, events.resolution), events.p, events.resolution, duration_s
        )

    def __len__(self) -> int:
        return self.p.size

    def subset(self, key: Any) -> "WindowData":
        """Return a selection of the events."""
        return replace(self, warp=self.warp.subset(key), p=self.p[key])

    def at(self, offset_s: float) -> "WindowData":
        """Return the same events with a reference time that is later by ``offset_s``."""
        warp = self.warp.of(self.warp.x, self.warp.y, self.warp.dt - offset_s)
        return replace(self, warp=warp)
