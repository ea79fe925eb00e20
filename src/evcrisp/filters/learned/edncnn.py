"""EDnCNN: a convolutional network on the recent events of 25x25 pixels."""

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.filters.learned.edncnn_network import SHAPES, find_device, import_torch, score
from evcrisp.filters.learned.encoding import LOG_FLOOR, MISSING_US, NEVER_US, PATCH_RADIUS
from evcrisp.filters.learned.weights import read_npz, weights_file
from evcrisp.filters.protocol import About, Filter, Labels, check_sensor

if TYPE_CHECKING:
    import torch

_SIDE = 2 * PATCH_RADIUS + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Edncnn(Filter):
    r"""Keep an event if a convolutional network labels it as signal. Needs torch.

    The inputs, 25x25x4 per event, are the log ages of the last two events of each pixel around it,
    of the event's own polarity and then of the other; 5 s if there is none. Pixels outside the
    sensor have not fired. (The original does not label events closer than 12 px to the border.) The
    score is the probability of signal. Labels come in batches of 128 events, or 4096 on a GPU.

    Parameters
    ----------
    threshold : float
        Minimum score of kept events.
    weights : str or path, optional
        A file of ``evcrisp train edncnn``. Default: weights trained on simulated recordings.
    device : str
        Device: "cpu", or one of torch such as "cuda"; "auto" is "cuda" if available. Scores differ
        between devices by rounding.

    References
    ----------
    R. W. Baldwin et al., "Event probability mask (EPM) and event denoising convolutional neural
    network (EDnCNN) for neuromorphic cameras", CVPR, 2020.
    """

    name: ClassVar[str] = "edncnn"
    about: ClassVar[About] = About(
        "Baldwin et al. 2020; own weights",
        "2 500 ages, 1.7 million multiplications",
        "4 times per pixel",
        "trained on the labels of the simulator instead of event probability masks",
    )
    is_causal: ClassVar[bool] = False

    threshold: float = 0.5
    weights: str | Path | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        check_number("threshold", self.threshold, 0, 1)

    def start(self, resolution: tuple[int, int]) -> "EdncnnStream":
        """Start a recording."""
        device = find_device(self.device)
        arrays = _read(*weights_file("edncnn", self.weights))
        weights = {name: array.to(device) for name, array in arrays.items()}
        on_cpu = device == "cpu"
        history = CompiledHistory(resolution) if on_cpu else TorchHistory(resolution, device)
        return EdncnnStream(self, resolution, weights, history)


@dataclass(slots=True, eq=False)
class EdncnnStream:
    """State of the filter: the history of each pixel, and events of an incomplete batch."""

    config: Edncnn
    resolution: tuple[int, int]
    weights: "dict[str, torch.Tensor]"
    history: "CompiledHistory | TorchHistory"
    waiting: list[Events] = field(default_factory=list)
    n_waiting: int = field(default=0)

    def label(self, events: Events) -> Labels:
        """Process the next chunk; label all complete batches."""
        events = check_sensor(events, self.resolution)
        parts, first = [], 0
        while first < len(events):
            part = events[first : first + self.history.batch - self.n_waiting]
            first += len(part)
            self.waiting.append(part)
            self.n_waiting += len(part)
            if self.n_waiting == self.history.batch:
                parts.append(self.finish())
        return Labels.concatenate(parts)

    def finish(self) -> Labels:
        """Label the waiting events: a complete batch, or the rest of the recording."""
        if not self.n_waiting:
            return Labels.empty(0)
        events = Events.concatenate(self.waiting).contiguous()
        self.waiting, self.n_waiting = [], 0
        scores = score(self.weights, self.history.patches(events))
        scores = scores[: len(events)].cpu().numpy().astype(np.float64)
        return Labels(scores >= self.config.threshold, scores)


@functools.lru_cache(maxsize=4)
def _read(path: Path, modified_ns: int) -> "dict[str, torch.Tensor]":
    arrays = read_npz(path, SHAPES)
    return {name: import_torch().from_numpy(array) for name, array in arrays.items()}


class CompiledHistory:
    """The last two events of each pixel and polarity, on the CPU, event by event.

    ``batch`` is the number of events per call of the network. It is constant, because the order of
    summation depends on it and labels must not depend on the chunks.
    """

    def __init__(self, resolution: tuple[int, int], batch: int = 128) -> None:
        width, height = (side + 2 * PATCH_RADIUS for side in resolution)
        self.batch = batch
        self.last = np.full((2, 2, height, width), NEVER_US, np.int64)
        self.filled = np.zeros((batch, 4, _SIDE, _SIDE), np.float32)

    def patches(self, events: Events) -> "torch.Tensor":
        """Process the next events, at most a batch; return their patches.

        Log ages (batch, 4, 25, 25), the first ``len(events)`` valid, until the next call.
        """
        from evcrisp.kernels.filters.learned.edncnn import gather_patches

        p, out = events.p.view(np.uint8), self.filled[: len(events)]
        gather_patches(events.x, events.y, events.t, p, self.last, MISSING_US, LOG_FLOOR, out)
        return import_torch().from_numpy(self.filled)


class TorchHistory:
    """The same on any device of torch, a batch at a time.

    A place is a pixel and a polarity. The events of a batch are sorted by place and time, so that a
    binary search finds the last two events of a place before any event. Missing ones are taken from
    the history before the batch.
    """

    def __init__(self, resolution: tuple[int, int], device: str, batch: int = 4096) -> None:
        torch = import_torch()
        self.width, height = (side + 2 * PATCH_RADIUS for side in resolution)
        self.device, self.batch = device, batch
        shape = 2, 2 * self.width * height  # newest and second newest time, us, per place
        self.last = torch.full(shape, NEVER_US, dtype=torch.int64, device=device)
        offset = torch.arange(-PATCH_RADIUS, PATCH_RADIUS + 1, device=device)
        self.steps = (self.width * offset[:, None] + offset[None, :]).reshape(-1)
        self.filled = torch.zeros((batch, 4, _SIDE, _SIDE), device=device)

    def patches(self, events: Events) -> "torch.Tensor":
        """Process the next events; see `CompiledHistory`."""
        if len(events):
            torch = import_torch()
            columns = (events.x, events.y, events.t, events.p)
            x, y, t, p = (torch.from_numpy(c.astype(np.int64)).to(self.device) for c in columns)
            pixel = (y + PATCH_RADIUS) * self.width + x + PATCH_RADIUS
            order = torch.arange(t.numel(), device=self.device)
            keys, order = torch.sort((2 * pixel + p) * t.numel() + order)
            batch = _Sorted(keys, t[order])
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
        is_second = self._is_at(at - 1, place)
        last[1][place] = torch.where(is_second, self.t[(at - 1).clamp_(min=0)], last[0][place])
        last[0][place] = self.t[at]

    def _is_at(self, index: "torch.Tensor", places: "torch.Tensor") -> "torch.Tensor":
        """Return whether the sorted event at an index, which may be negative, is at a place."""
        n = self.t.numel()
        # Keys of a place are in place * n .. place * n + n - 1.
        return (index >= 0) & (self.keys[index.clamp(min=0)] >= places * n)
