"""Network inputs by binary search in a sorted table of events.

One table holds all recordings, so that a batch can mix them. Pixels are numbered through all
recordings, each with a border of pixels that never fire. The keys ``pixel * n + index`` of all
events are sorted; a search for ``pixel * n + i`` finds the pixel's last event before event i. The
code runs in torch on any device and is independent of the kernels; tests compare the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evcrisp.core.events import Events
from evcrisp.filters.learned.edncnn_network import import_torch
from evcrisp.filters.learned.encoding import LOG_FLOOR, MISSING_US, MLPF_RADIUS, PATCH_RADIUS

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, eq=False)
class EventTable:
    """Events of several recordings, sorted by pixel and time."""

    pixel: "torch.Tensor"  # (n,) int64, number of the pixel
    column: "torch.Tensor"  # (n,) int64, pixels per column of the sensor
    t: "torch.Tensor"  # (n,) int64 us
    p: "torch.Tensor"  # (n,) int64, 0 or 1
    keys: "torch.Tensor"  # (n,) int64, sorted
    order: "torch.Tensor"  # (n,) int64, event of each key
    planes: int  # 1, or 2 if ON and OFF are separate

    @classmethod
    def build(
        cls, recordings: Sequence[Events], radius: int, planes: int, device: str = "cpu"
    ) -> "EventTable":
        """Assign numbers to all pixels; sort the events by pixel, plane and time."""
        torch = import_torch()
        start, pixel, column = 0, [], []
        for events in recordings:
            height = events.height + 2 * radius
            x, y = events.x.astype(np.int64), events.y.astype(np.int64)
            pixel.append(start + (x + radius) * height + y + radius)
            column.append(np.full(len(events), height))
            start += height * (events.width + 2 * radius)
        t, p = [events.t for events in recordings], [events.p for events in recordings]
        columns = (np.concatenate(parts).astype(np.int64) for parts in (pixel, column, t, p))
        pixels, widths, t, p = (torch.from_numpy(column).to(device) for column in columns)
        place = planes * pixels + p if planes == 2 else pixels
        keys, order = torch.sort(place * t.numel() + torch.arange(t.numel(), device=device))
        return cls(pixels, widths, t, p, keys, order, planes)

    def last_before(
        self, place: "torch.Tensor", index: "torch.Tensor", n_back: int = 1
    ) -> "list[torch.Tensor]":
        """Return the last events at places before events ``index``, newest first; -1 if none."""
        torch = import_torch()
        n = self.t.numel()
        after = torch.searchsorted(self.keys, place * n + index)
        events = []
        for back in range(1, n_back + 1):
            found = (after - back).clamp_min(0)
            same = torch.div(self.keys[found], n, rounding_mode="floor") == place
            events.append(torch.where(same & (after >= back), self.order[found], -1))
        return events

    def patches(self, index: "torch.Tensor", radius: int) -> "torch.Tensor":
        """Return the pixels around events, (b, (2 r + 1)^2), with y varying fastest."""
        torch = import_torch()
        offset = torch.arange(-radius, radius + 1, device=index.device)
        dx, dy = torch.meshgrid(offset, offset, indexing="ij")
        steps = self.column[index, None] * dx.reshape(1, -1) + dy.reshape(1, -1)
        return self.pixel[index, None] + steps


def mlpf_inputs(table: EventTable, index: "torch.Tensor", tau_us: int) -> "torch.Tensor":
    """Return ages and polarities of the 7x7 pixels around events, (b, 98) float32."""
    torch = import_torch()
    pixels = table.patches(index, MLPF_RADIUS)
    last = table.last_before(pixels, index[:, None])[0]
    dt = table.t[index, None] - table.t[last.clamp_min(0)]
    recent = (last >= 0) & (dt < tau_us)
    age = torch.where(recent, 1.0 - dt.float() / tau_us, 0.0)
    sign = torch.where(recent, 2.0 * table.p[last.clamp_min(0)] - 1.0, 0.0)
    sign[:, pixels.shape[1] // 2] = 2.0 * table.p[index] - 1.0
    return torch.cat((age, sign), 1)


def edncnn_inputs(table: EventTable, index: "torch.Tensor") -> "torch.Tensor":
    """Return log ages of the 25x25 pixels around events, (b, 4, 25, 25) float32.

    The last two events of the event's own polarity, newest first, then those of the other one.
    """
    torch = import_torch()
    side = 2 * PATCH_RADIUS + 1
    pixels = table.patches(index, PATCH_RADIUS)
    channels = []
    for plane in (table.p[index], 1 - table.p[index]):
        for last in table.last_before(2 * pixels + plane[:, None], index[:, None], n_back=2):
            dt = (table.t[index, None] - table.t[last.clamp_min(0)]).clamp_max(MISSING_US)
            dt = torch.where(last >= 0, dt, MISSING_US)
            channels.append((torch.log1p(dt.float()) - LOG_FLOOR).clamp_min(0.0))
    # Patches are stored [y, x], as images are.
    return torch.stack(channels, 1).reshape(-1, 4, side, side).transpose(2, 3)
