"""EDnCNN: a convolutional network looks at the history of 25x25 pixels."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters.learned import edncnn_network as _edncnn_network
from evcrisp.filters.learned import weights as _weights
from evcrisp.filters.learned.edncnn_history import CompiledHistory, History, TorchHistory
from evcrisp.filters.protocol import About, Labels, checked

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class Edncnn:
    r"""Keep an event if a convolutional network says so.

    The input of 25x25x4 numbers per event holds the log ages of the last two events of each pixel
    around it, of the event's own polarity first, then of the other one; 5 s where there is none.
    Pixels outside the sensor never fired. (The original does not label events closer than 12 px to
    the border.) The score is the probability of signal. Needs torch.

    Parameters
    ----------
    threshold : float
        Least score of an event that is kept.
    weights : str or path, optional
        Other weights, as ``evcrisp train edncnn`` writes them. Default: those that come with
        evcrisp, trained on simulated recordings.
    device : str
        "cpu", or a device of torch such as "cuda"; "auto" is "cuda" where there is one. Scores differ
        between devices by rounding.

    Notes
    -----
    Labels come in batches of 128 events, or 4096 on a device; what is left over comes with
    ``finish``.

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
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    threshold: float = 0.5
    weights: str | Path | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise ConfigError(f"`threshold` must lie in 0..1; got {self.threshold}.")

    def start(self, resolution: tuple[int, int]) -> "EdncnnStream":
        """Begin a recording in which no pixel has fired."""
        device = _edncnn_network.checked_device(self.device)
        path = _weights.shipped("edncnn") if self.weights is None else Path(self.weights)
        weights = {name: array.to(device) for name, array in _loaded(path).items()}
        if device == "cpu":
            return EdncnnStream(self, resolution, weights, CompiledHistory(resolution))
        return EdncnnStream(self, resolution, weights, TorchHistory(resolution, device))


@dataclass(slots=True, eq=False)
class EdncnnStream:
    """The filter at work: the history of each pixel, and the events that wait for a full batch."""

    config: Edncnn
    resolution: tuple[int, int]
    weights: "dict[str, torch.Tensor]"
    history: History
    waiting: list[Events] = field(default_factory=list)
    n_waiting: int = field(default=0)

    def label(self, events: Events) -> Labels:
        """Take the next chunk and label all full batches."""
        events = checked(events, self.resolution)
        parts, first = [], 0
        while first < len(events):
            part = events[first : first + self.history.batch - self.n_waiting]
            first += len(part)
            self.waiting.append(part)
            self.n_waiting += len(part)
            if self.n_waiting == self.history.batch:
                parts.append(self.finish())
        return Labels.joined(parts)

    def finish(self) -> Labels:
        """Label what waits, at the end of a recording or when a batch is full."""
        if not self.n_waiting:
            return Labels.room(0)
        events = Events.concatenate(self.waiting).contiguous()
        self.waiting, self.n_waiting = [], 0
        found = _edncnn_network.score(self.weights, self.history.patches(events))
        score = found[: len(events)].cpu().numpy().astype(np.float64)
        return Labels(score >= self.config.threshold, score)


def _loaded(path: Path) -> "dict[str, torch.Tensor]":
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    return _read(path, stamp)


@functools.lru_cache(maxsize=4)
def _read(path: Path, stamp: int) -> "dict[str, torch.Tensor]":
    torch = _edncnn_network.import_torch()
    arrays = _weights.read_npz(path, _edncnn_network.SHAPES)
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
