"""Double window filter: an event stays if it lies near one of the last kept or dropped ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Dwf:
    r"""Keep an event if ``k`` of the last kept and the last dropped events lie near it.

    Neither time nor polarity is looked at, so that the result depends on the rate of events. The
    score is :math:`r / (r + d)` with the L1 distance :math:`d` to the k-th nearest of them.

    Parameters
    ----------
    length : int
        How many kept events, and how many dropped ones, are remembered.
    radius_px : int
        Longest distance :math:`|dx| + |dy|`, px.
    k : int
        How many of them have to be near.
    warm_up : int
        Drop so many events at the start, but remember the first ``length`` of them as kept ones.
    zero_start : bool
        Start with memories full of events at the pixel (0, 0).

    Notes
    -----
    Presets: "emlb" and "kugamas" (the first version of E-MLB) give the labels of these programs;
    "jaer" follows jAER's sources, which want a distance below 5.

    References
    ----------
    S. Guo, T. Delbruck, "Low cost and latency event camera background activity denoising",
    IEEE T-PAMI, 2022.
    """

    name: ClassVar[str] = "dwf"
    about: ClassVar[About] = About("Guo and Delbruck 2022", "2 length events", "2 length events")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "emlb": {"length": 36, "radius_px": 9, "k": 1, "zero_start": True},
        "kugamas": {"length": 8, "radius_px": 10, "k": 1, "warm_up": 8},
        "jaer": {"length": 256, "radius_px": 4, "k": 1, "warm_up": 512},
    }

    length: int = 36
    radius_px: int = 9
    k: int = 1
    warm_up: int = 0
    zero_start: bool = False

    def __post_init__(self) -> None:
        for name in ("length", "radius_px", "k"):
            at_least(name, getattr(self, name), 1)
        at_least("warm_up", self.warm_up, 0)
        if self.k > 2 * self.length:
            raise ConfigError(f"`k` must be at most 2 * `length`, {2 * self.length}; got {self.k}.")

    def start(self, resolution: tuple[int, int]) -> "DwfStream":
        """Begin a recording."""
        from evcrisp.kernels.filters.dwf import FAR

        places = np.full((2, 2 * self.length), 0 if self.zero_start else FAR, np.int32)
        rule = (self.k, self.radius_px, self.warm_up)
        return DwfStream(resolution, places, np.zeros(3, np.int64), rule)


@dataclass(frozen=True, slots=True, eq=False)
class DwfStream(Causal):
    """The filter at work."""

    resolution: tuple[int, int]
    places: NDArray[np.int32]  # (2, 2 length) x and y of the kept events, then of the dropped ones
    cursor: NDArray[np.int64]  # (3,)
    rule: tuple[int, int, int]

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.dwf import window_distance

        events = checked(events, self.resolution)
        labels = Labels.room(len(events))
        xs, ys = self.places
        window_distance(
            events.x, events.y, xs, ys, self.cursor, self.rule, labels.signal, labels.score
        )
        return labels
