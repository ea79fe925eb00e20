"""EDnCNN: a convolutional network looks at the history of 25x25 pixels."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import ConfigError
from evcrisp.events import Events
from evcrisp.filters import _edncnn_network, _weights
from evcrisp.filters._encoding import LOG_FLOOR, MISSING_US, PATCH_RADIUS
from evcrisp.filters._protocol import About, Labels, checked

if TYPE_CHECKING:
    import torch

#: Events per call of the network. Always the same number, since sums of other sizes are added up
#: in another order, and labels must not depend on how a stream is cut.
BATCH = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Edncnn:
    r"""Keep an event if a convolutional network says so.

    The input of 25x25x4 numbers per event holds the log ages of the last two events of each pixel
    around it, of the event's own polarity first, then of the other one; 5 s where there is none.
    Pixels outside the sensor never fired. (The original does not label events closer than 12 px to
    the border.) The score is the probability of signal. Needs torch, which runs on the processor.

    Parameters
    ----------
    threshold : float
        Least score of an event that is kept.
    weights : str or path, optional
        Other weights, as ``evcrisp train edncnn`` writes them. Default: those that come with
        evcrisp, trained on simulated recordings.

    Notes
    -----
    Labels come in batches of 128 events; what is left over comes with ``finish``.

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

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise ConfigError(f"`threshold` must lie in 0..1; got {self.threshold}.")

    def start(self, resolution: tuple[int, int]) -> "EdncnnStream":
        """Begin a recording in which no pixel has fired."""
        _edncnn_network.import_torch()
        from evcrisp.kernels.patches import NEVER

        width, height = resolution
        border, side = 2 * PATCH_RADIUS, 2 * PATCH_RADIUS + 1
        path = _weights.shipped("edncnn") if self.weights is None else Path(self.weights)
        return EdncnnStream(
            self,
            np.full((2, 2, height + border, width + border), NEVER, np.int64),
            _loaded(path),
            np.zeros((BATCH, 4, side, side), np.float32),
        )


@dataclass(slots=True, eq=False)
class EdncnnStream:
    """The filter at work: the history of each pixel, and the patches that wait for a full batch."""

    config: Edncnn
    last: NDArray[np.int64]  # (2, 2, h + 24, w + 24) us, see the kernel
    weights: "dict[str, torch.Tensor]"
    waiting: NDArray[np.float32]  # (BATCH, 4, 25, 25)
    n_waiting: int = field(default=0)

    def label(self, events: Events) -> Labels:
        """Take the next chunk and label all full batches."""
        from evcrisp.kernels.patches import gather

        shape = self.last.shape
        events = checked(events, (shape[3] - 2 * PATCH_RADIUS, shape[2] - 2 * PATCH_RADIUS))
        parts, first = [], 0
        while first < len(events):
            part = events[first : first + BATCH - self.n_waiting]
            end = self.n_waiting + len(part)
            gather(
                part.x,
                part.y,
                part.t,
                part.p.view(np.uint8),
                self.last,
                MISSING_US,
                LOG_FLOOR,
                self.waiting[self.n_waiting : end],
            )
            self.n_waiting = end
            first += len(part)
            if end == BATCH:
                parts.append(self.finish())
        return Labels.joined(parts)

    def finish(self) -> Labels:
        """Label what waits, at the end of a recording or when a batch is full."""
        torch = _edncnn_network.import_torch()
        n, self.n_waiting = self.n_waiting, 0
        if n == 0:
            return Labels.room(0)
        threads = torch.get_num_threads()
        # Batches are small: on a busy machine, threads wait for each other longer than they work.
        torch.set_num_threads(1)
        try:
            found = _edncnn_network.score(self.weights, torch.from_numpy(self.waiting))
        finally:
            torch.set_num_threads(threads)
        score = found[:n].numpy().astype(np.float64)
        return Labels(score >= self.config.threshold, score)


def _loaded(path: Path) -> "dict[str, torch.Tensor]":
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    return _read(path, stamp)


@functools.lru_cache(maxsize=4)
def _read(path: Path, stamp: int) -> "dict[str, torch.Tensor]":
    torch = _edncnn_network.import_torch()
    arrays = _weights.read_npz(path, _edncnn_network.SHAPES)
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
