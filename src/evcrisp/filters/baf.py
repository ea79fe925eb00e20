"""Background activity filter: an event stays if a neighboring pixel fired a short time ago."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import ConfigError
from evcrisp.events import Events
from evcrisp.filters._protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Baf:
    r"""Keep an event if one of its eight neighbors fired at most ``tau_us`` earlier.

    The pixel itself does not count, so that a hot pixel cannot support itself, and a pixel that
    never fired supports nobody. The score is :math:`1 / (1 + \mathrm{age} / \tau)`, which is at least
    0.5 for kept events and 0 without any support.

    Parameters
    ----------
    tau_us : int
        Longest age of the supporting event, us.
    same_polarity : bool
        Count only neighboring events of the same polarity.

    References
    ----------
    T. Delbruck, "Frame-free dynamic digital vision", Intl. Symp. on Secure-Life
    Electronics, 2008.
    """

    name: ClassVar[str] = "baf"
    about: ClassVar[About] = About("Delbruck 2008", "8 pixels", "1 time per pixel")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    tau_us: int = 5_000
    same_polarity: bool = False

    def __post_init__(self) -> None:
        if self.tau_us <= 0:
            raise ConfigError(f"`tau_us` must be positive; got {self.tau_us}.")

    def start(self, resolution: tuple[int, int]) -> "BafStream":
        """Begin a recording in which no pixel has fired."""
        from evcrisp.kernels.activity import NEVER

        planes = 2 if self.same_polarity else 1
        last = np.full((planes, resolution[1] + 2, resolution[0] + 2), NEVER, np.int64)
        return BafStream(self, last)


@dataclass(frozen=True, slots=True, eq=False)
class BafStream(Causal):
    """The filter at work; ``last`` holds the time of the last event of each pixel."""

    config: Baf
    last: NDArray[np.int64]  # (planes, h + 2, w + 2) us

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.activity import support_age

        events = checked(events, (self.last.shape[2] - 2, self.last.shape[1] - 2))
        plane = (
            events.p.view(np.uint8)
            if self.config.same_polarity
            else np.zeros(len(events), np.uint8)
        )
        age = np.empty(len(events), np.int64)
        support_age(events.x, events.y, events.t, plane, self.last, age)
        supported = age >= 0
        signal = supported & (age <= self.config.tau_us)
        score = np.where(supported, 1.0 / (1.0 + np.maximum(age, 0) / self.config.tau_us), 0.0)
        return Labels(signal, score)
