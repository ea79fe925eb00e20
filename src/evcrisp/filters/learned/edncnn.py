"""EDnCNN: a convolutional network on the recent events of 25x25 pixels."""

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.filters.learned.edncnn_history import CompiledHistory, History, TorchHistory
from evcrisp.filters.learned.edncnn_network import SHAPES, find_device, import_torch, score
from evcrisp.filters.learned.weights import read_npz, weights_file
from evcrisp.filters.protocol import About, Filter, Labels, check_sensor

if TYPE_CHECKING:
    import torch


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
        Other weights, as written by ``evcrisp train edncnn``. Default: the weights of evcrisp,
        trained on simulated recordings.
    device : str
        "cpu", or a device of torch such as "cuda"; "auto" is "cuda" if available. Scores differ
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
    history: History
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
