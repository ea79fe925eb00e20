"""What a denoiser offers: labels for events, and a state so that a stream can be cut anywhere."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from evcrisp.events import Events


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What a denoiser says about each event."""

    signal: NDArray[np.bool_]  # (n,) True = keep
    score: NDArray[np.float64]  # (n,) larger = more likely signal; always finite

    def __len__(self) -> int:
        return self.signal.size


class Stream(Protocol):
    """A denoiser at work on one recording."""

    def label(self, events: Events) -> Labels:
        """Label the next chunk; the state of earlier chunks is kept."""
        ...


class Denoiser(Protocol):
    """A denoiser's parameters; a frozen dataclass."""

    name: ClassVar[str]

    def start(self, resolution: tuple[int, int]) -> Stream:
        """Begin a recording of a sensor, with a state in which no pixel has fired."""
        ...
