"""HashHeat: count events behind random projections, in memory that does not grow with the sensor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least, positive
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class HashHeat:
    r"""Keep an event if all but one of its counters are hot.

    Each hash projects an event (x, y, t) on random directions, cuts the projections into pieces of
    ``width_px`` and finds a counter by the pieces. Events that are close to each other mostly share
    counters. Kept events count twice. The score is :math:`c / (c + \theta + 1)` of the second lowest
    counter c, at least 0.5 for kept events.

    Parameters
    ----------
    hashes : int
        Number of hashes, 2 or more.
    projections : int
        Directions per hash. One, as in the original, counts all events of a slab that crosses the
        whole sensor, whose heat says next to nothing about an event; three enclose a small volume.
    width_px : float
        Thickness of a piece, px.
    time_unit_us : float
        Time that counts as one pixel, us.
    counters : int
        Number of counters, a power of two; all hashes share them.
    window_events : int
        After so many events the counters are halved, or cleared.
    clear : bool
        Clear the counters, and count time anew.
    threshold, cold_threshold : int
        Counter above which events stay, from ``warm_event`` of a window on and before it.
    warm_event : int
        Number of the event in a window from which ``threshold`` holds.
    seed : int
        Seed of the random directions.

    Notes
    -----
    The preset "jaer" has the rule and the constants of jAER, with time in microseconds. Its labels
    are then no better than chance, because a projection moves on by a whole counter every 2 us.

    References
    ----------
    S. Guo et al., "HashHeat: an O(C) complexity hashing-based filter for dynamic vision sensor",
    ASP-DAC, 2020.
    """

    name: ClassVar[str] = "hashheat"
    about: ClassVar[About] = About(
        "Guo et al. 2020; jAER",
        "9 projections, 3 counters",
        "65 536 counters, whatever the sensor",
        "The directions, which are random in the source too; three projections per hash, the unit "
        "of time, and halving in place of clearing are ours. The preset follows jAER's rule, not its "
        "directions.",
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "jaer": {
            "hashes": 4,
            "projections": 1,
            "width_px": 2.0,
            "time_unit_us": 1.0,
            "counters": 128,
            "clear": True,
            "threshold": 125,
            "cold_threshold": 20,
            "warm_event": 2_000,
        }
    }

    hashes: int = 3
    projections: int = 3
    width_px: float = 8.0
    time_unit_us: float = 3_000.0
    counters: int = 65_536
    window_events: int = 5_000
    clear: bool = False
    threshold: int = 3
    cold_threshold: int = 3
    warm_event: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        at_least("hashes", self.hashes, 2)
        at_least("projections", self.projections, 1)
        at_least("window_events", self.window_events, 1)
        at_least("threshold", self.threshold, 0)
        at_least("cold_threshold", self.cold_threshold, 0)
        at_least("seed", self.seed, 0)
        at_least("warm_event", self.warm_event, 0)
        positive("width_px", self.width_px)
        positive("time_unit_us", self.time_unit_us)
        if self.counters not in [2**power for power in range(1, 18)]:
            raise ConfigError(
                f"`counters` must be a power of two up to {2**17}; got {self.counters}."
            )

    def start(self, resolution: tuple[int, int]) -> "HashHeatStream":
        """Begin a recording with all counters at 0."""
        counters, state = np.zeros(self.counters, np.int32), np.zeros(3, np.int64)
        return HashHeatStream(self, resolution, self.planes(), counters, state)

    def planes(self) -> NDArray[np.float64]:
        """Return the factors of x, y, t and 1; shape (hashes, projections, 4)."""
        rng = np.random.default_rng(self.seed)
        directions = rng.normal(size=(self.hashes, self.projections, 3)) / self.width_px
        directions[..., 2] /= self.time_unit_us
        return np.concatenate([directions, rng.random((*directions.shape[:2], 1))], axis=2)


@dataclass(frozen=True, slots=True, eq=False)
class HashHeatStream(Causal):
    """The filter at work."""

    config: HashHeat
    resolution: tuple[int, int]
    planes: NDArray[np.float64]  # (hashes, projections, 4)
    heat: NDArray[np.int32]  # (counters,)
    state: NDArray[np.int64]  # (3,), see the kernel

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.hashheat import hash_heat

        events = checked(events, self.resolution)
        labels = Labels.room(len(events))
        config = self.config
        rule = (config.window_events, config.clear, config.warm_event)
        rule += (config.cold_threshold, config.threshold)
        state = (self.planes, self.heat, self.state)
        hash_heat(events.x, events.y, events.t, *state, *rule, labels.signal, labels.score)
        return labels
