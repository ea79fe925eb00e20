"""Event history and input patches of EDnCNN: compiled for the CPU, in torch for any device."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Singles
from evcrisp.filters.learned.encoding import LOG_FLOOR, MISSING_US, NEVER_US, PATCH_RADIUS
from evcrisp.filters.learned.torch_import import import_torch

if TYPE_CHECKING:
    import torch

_SIDE = 2 * PATCH_RADIUS + 1


class History(Protocol):
    """The last two events of each pixel and polarity."""

    #: Events per call of the network. It is constant, because the order of summation depends on it
    #: and labels must not depend on the chunks.
    batch: int

    def patches(self, events: Events) -> "torch.Tensor":
        """Process the next events, at most a batch; return their patches.

        Log ages of shape (batch, 4, 25, 25); only the first ``len(events)`` are valid. The next
        call overwrites them.
        """
        ...


@dataclass(slots=True, eq=False)
class CompiledHistory:
    """History on the CPU, event by event."""

    resolution: tuple[int, int]
    batch: int = 128
    last: NDArray[np.int64] = field(init=False)  # (2, 2, h + 24, w + 24) us, see the kernel
    filled: Singles = field(init=False)  # (batch, 4, 25, 25)

    def __post_init__(self) -> None:
        width, height = (side + 2 * PATCH_RADIUS for side in self.resolution)
        self.last = np.full((2, 2, height, width), NEVER_US, np.int64)
        self.filled = np.zeros((self.batch, 4, _SIDE, _SIDE), np.float32)

    def patches(self, events: Events) -> "torch.Tensor":
        """Process the next events; return their patches."""
        from evcrisp.kernels.filters.edncnn import gather_patches

        p, out = events.p.view(np.uint8), self.filled[: len(events)]
        gather_patches(events.x, events.y, events.t, p, self.last, MISSING_US, LOG_FLOOR, out)
        return import_torch().from_numpy(self.filled)


@dataclass(slots=True, eq=False)
class TorchHistory:
    """History on any device, a batch at a time.

    A place is a pixel and a polarity. The events of a batch are sorted by place and time, so that a
    binary search finds the last two events of a place before any event. Missing ones are taken from
    the history before the batch.
    """

    resolution: tuple[int, int]
    device: str
    batch: int = 4096
    last: "torch.Tensor" = field(init=False)  # (2, places) int64 us, newest and second newest
    steps: "torch.Tensor" = field(init=False)  # (625,) int64, offsets of the pixels of a patch
    filled: "torch.Tensor" = field(init=False)  # (batch, 4, 25, 25) float32

    def __post_init__(self) -> None:
        torch = import_torch()
        width, height = (side + 2 * PATCH_RADIUS for side in self.resolution)
        shape = 2, 2 * width * height
        self.last = torch.full(shape, NEVER_US, dtype=torch.int64, device=self.device)
        offset = torch.arange(-PATCH_RADIUS, PATCH_RADIUS + 1, device=self.device)
        self.steps = (width * offset[:, None] + offset[None, :]).reshape(-1)
        self.filled = torch.zeros((self.batch, 4, _SIDE, _SIDE), device=self.device)

    def patches(self, events: Events) -> "torch.Tensor":
        """Process the next events; return their patches."""
        if len(events):
            torch = import_torch()
            columns = (events.x, events.y, events.t, events.p)
            x, y, t, p = (torch.from_numpy(c.astype(np.int64)).to(self.device) for c in columns)
            width = self.resolution[0] + 2 * PATCH_RADIUS
            pixel = (y + PATCH_RADIUS) * width + x + PATCH_RADIUS
            batch = _Sorted.of(2 * pixel + p, t)
            around = pixel[:, None] + self.steps
            out = self.filled[: len(events)].view(-1, 4, _SIDE * _SIDE)
            for channel, plane in ((0, p), (2, 1 - p)):
                for back, time in enumerate(batch.last_two(2 * around + plane[:, None], self.last)):
                    age = (t[:, None] - time).clamp_(max=MISSING_US)
                    out[:, channel + back] = (age.float().log1p_() - LOG_FLOOR).clamp_(min=0.0)
            batch.store(self.last)
        return self.filled


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """Events of a batch, sorted by place and then by time."""

    keys: "torch.Tensor"  # (n,) int64, place * n + index
    t: "torch.Tensor"  # (n,) int64 us

    @classmethod
    def of(cls, place: "torch.Tensor", t: "torch.Tensor") -> "_Sorted":
        torch = import_torch()
        keys, order = torch.sort(place * t.numel() + torch.arange(t.numel(), device=t.device))
        return cls(keys, t[order])

    def last_two(
        self, places: "torch.Tensor", last: "torch.Tensor"
    ) -> "tuple[torch.Tensor, torch.Tensor]":
        """Return the last two times at places, (n, k), before events 0 to n - 1."""
        torch = import_torch()
        n = self.t.numel()
        index = torch.arange(n, device=self.t.device)[:, None]
        after = torch.searchsorted(self.keys, places * n + index)
        once = self._is_at(after - 1, places)
        twice = once & self._is_at(after - 2, places)
        older = last[0][places]
        newest = torch.where(once, self.t[(after - 1).clamp_(min=0)], older)
        older = torch.where(once, older, last[1][places])
        return newest, torch.where(twice, self.t[(after - 2).clamp_(min=0)], older)

    def store(self, last: "torch.Tensor") -> None:
        """Write the last two events of each place to the history."""
        torch = import_torch()
        n = self.t.numel()
        place = torch.div(self.keys, n, rounding_mode="floor")
        ends = torch.ones(n, dtype=torch.bool, device=self.t.device)
        ends[:-1] = place[1:] != place[:-1]
        at = torch.nonzero(ends)[:, 0]
        place = place[at]
        before = torch.where(
            self._is_at(at - 1, place), self.t[(at - 1).clamp_(min=0)], last[0][place]
        )
        last[1][place] = before
        last[0][place] = self.t[at]

    def _is_at(self, index: "torch.Tensor", places: "torch.Tensor") -> "torch.Tensor":
        """Return whether the sorted event at an index, which may be negative, is at a place."""
        n = self.t.numel()
        # Keys of a place are in place * n .. place * n + n - 1.
        return (index >= 0) & (self.keys[index.clamp(min=0)] >= places * n)
