"""Last event of every pixel before each event, found in parallel.

The events of a chunk are sorted by pixel, so that a binary search finds the last one of a pixel before
any event. Where a chunk has none, the state after the chunk before tells.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evcrisp.core.events import Events
from evcrisp.tensors.lazy import Tensor, torch

#: Time of a pixel that has not fired; differences to it do not overflow.
NEVER = -(2**62)


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Events on a device, with the state before them; tensors of shape (n,), int64."""

    x: Tensor  # px, with a border
    y: Tensor
    t: Tensor  # us since the first event of the recording
    p: Tensor  # 0 or 1
    index: Tensor
    keys: Tensor  # sorted; pixel times n, plus index
    order: Tensor  # event of each key
    stride: int
    times: Tensor  # (pixels,) of the last events before the chunk; `NEVER` if there is none
    polarities: Tensor  # (pixels,)

    def before(self, dx: int, dy: int) -> tuple[Tensor, Tensor]:
        """Return time and polarity of the last event at (x + dx, y + dy) before each event."""
        n = self.t.numel()
        pixel = (self.y + dy) * self.stride + self.x + dx
        place = torch.searchsorted(self.keys, pixel * n + self.index) - 1
        at = place.clamp(min=0)
        there = (place >= 0) & (self.keys.index_select(0, at) >= pixel * n)
        event = self.order.index_select(0, at)
        time = torch.where(there, self.t[event], self.times.index_select(0, pixel))
        polarity = torch.where(there, self.p[event], self.polarities.index_select(0, pixel))
        return time, polarity


@dataclass(slots=True, eq=False)
class LastEvents:
    """Time and polarity of the last event of every pixel, with a border that never fires."""

    resolution: tuple[int, int]
    radius: int
    device: Any
    zero_start: bool = False  # as if each pixel had fired OFF at time 0
    _t_first: int | None = field(default=None, init=False)
    _times: Any = field(default=None, init=False)
    _polarities: Any = field(default=None, init=False)

    def chunk(self, events: Events) -> Chunk:
        """Return the next events, one or more, and update the state."""
        width, height = (side + 2 * self.radius for side in self.resolution)
        if self._t_first is None:
            self._t_first = int(events.t[0])
            self._start(self._t_first, width, height)
        columns = (events.x, events.y, events.t - self._t_first, events.p)
        x, y, t, p = (
            torch.from_numpy(column.astype(np.int64)).to(self.device) for column in columns
        )
        x, y, index = x + self.radius, y + self.radius, torch.arange(t.numel(), device=t.device)
        keys, order = torch.sort((y * width + x) * t.numel() + index)
        out = Chunk(x, y, t, p, index, keys, order, width, self._times, self._polarities)
        self._store(out)
        return out

    def _start(self, t_first: int, width: int, height: int) -> None:
        times = torch.full((height, width), NEVER, dtype=torch.int64, device=self.device)
        if self.zero_start:
            inside = slice(self.radius, -self.radius)
            times[inside, inside] = -t_first
        self._times = times.reshape(-1)
        self._polarities = torch.zeros_like(self._times)

    def _store(self, chunk: Chunk) -> None:
        """Write the last event of each pixel of a chunk to copies of the state."""
        n = chunk.t.numel()
        pixel = torch.div(chunk.keys, n, rounding_mode="floor")
        is_last = torch.ones(n, dtype=torch.bool, device=pixel.device)
        is_last[:-1] = pixel[1:] != pixel[:-1]
        pixel, event = pixel[is_last], chunk.order[is_last]
        self._times = self._times.index_copy(0, pixel, chunk.t[event])
        self._polarities = self._polarities.index_copy(0, pixel, chunk.p[event])
