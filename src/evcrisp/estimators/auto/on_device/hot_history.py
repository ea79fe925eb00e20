"""Hot pixels over a recording, on a device; see `estimators.hot_pixels.HotPixelHistory`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.core.windows import Window, by_time
from evcrisp.estimators.auto.on_device.hot_pixels import hot_pixels
from evcrisp.estimators.hot_pixels import COUNTING_US, MEMORY_US
from evcrisp.tensors.lazy import Tensor, torch

#: Windows whose counts are kept at a time.
_AT_ONCE = 64


@dataclass(slots=True, eq=False)
class DeviceHotPixels:
    """Decaying event counts of every pixel; windows come in order and may overlap."""

    resolution: tuple[int, int]
    device: Any
    counts: Tensor = field(init=False)  # (h * w,) float32
    n_seen: int = 0
    t_last: int | None = None  # us, end of the last window with events

    def __post_init__(self) -> None:
        self.counts = torch.zeros(self.resolution[0] * self.resolution[1], device=self.device)

    def count(self, events: Events) -> None:
        """Count events before the first window, whose events are numbered from 0."""
        self.mark(list(by_time(events, COUNTING_US)))
        self.n_seen = 0

    def mark(self, windows: Sequence[Window]) -> list[Bools]:
        """Count the new events of windows; return which of their events are hot, (n,) of each."""
        out: list[Bools] = []
        for first in range(0, len(windows), _AT_ONCE):
            out += self._mark(windows[first : first + _AT_ONCE])
        return out

    def _mark(self, windows: Sequence[Window]) -> list[Bools]:
        width, height = self.resolution
        places, counts = [], []
        for window in windows:
            events = window.events
            place = events.y.astype(np.int64) * width + events.x
            places.append(torch.from_numpy(place).to(self.device))
            if len(events):
                t_last = window.t_end if self.t_last is None else self.t_last
                self.counts *= math.exp(-max(window.t_end - t_last, 0) / MEMORY_US)
                self.t_last = max(t_last, window.t_end)
                new = places[-1][max(self.n_seen - window.index, 0) :]
                self.n_seen = max(self.n_seen, window.index + len(events))
                self.counts.index_add_(0, new, torch.ones_like(new, dtype=self.counts.dtype))
            counts.append(self.counts.clone())
        sides = [torch.full((len(windows),), side, device=self.device) for side in self.resolution]
        hot = hot_pixels(torch.stack(counts).reshape(-1, height, width), *sides)
        flat = hot.reshape(len(windows), -1)
        return [row[place].cpu().numpy() for row, place in zip(flat, places, strict=True)]
