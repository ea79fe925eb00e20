"""HashHeat: count events in hashed cells, with memory independent of the sensor size."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.core.validation import check_choice, check_number
from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum

#: Limit of hashes and of projections, so that they fit into memory.
_MAX_HASHES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class HashHeat(Filter):
    r"""Keep an event if all but one of its counters are high.

    Each hash projects an event (x, y, t) on random directions, quantizes the projections with a
    step of ``width_px`` and maps them to a counter. Events that are close in space and time mostly
    share counters. Kept events count twice. The score is :math:`c / (c + \theta + 1)` of the second
    lowest counter c, at least 0.5 for kept events.

    Parameters
    ----------
    hashes : int
        Number of hashes, 2 or more.
    projections : int
        Directions per hash. One, as in the original, counts all events of a slab across the whole
        sensor, which carries almost no information; three enclose a small volume.
    width_px : float
        Quantization step, px.
    time_unit_us : float
        Time that is equivalent to one pixel, us.
    counters : int
        Number of counters, a power of two; all hashes share them.
    window_events : int
        Number of events after which the counters are halved, or cleared.
    clear : bool
        Clear the counters, and restart the time.
    threshold : int
        Counter value above which events are kept, from ``warm_event`` of a window on.
    cold_threshold : int
        Counter value above which events are kept before ``warm_event``.
    warm_event : int
        Event of a window from which ``threshold`` applies.
    seed : int
        Seed of the random directions.

    References
    ----------
    S. Guo et al., "HashHeat: an O(C) complexity hashing-based filter for dynamic vision sensor",
    ASP-DAC, 2020.
    """

    name: ClassVar[str] = "hashheat"
    about: ClassVar[About] = About(
        "Guo et al. 2020; jAER",
        "9 projections, 3 counters",
        "65 536 counters for any sensor",
        "The directions are random in the source too. Three projections per hash, the unit of time, "
        "and halving instead of clearing are choices of evcrisp. The preset has the rule of jAER, not "
        "its directions.",
    )
    presets: ClassVar[Presets] = {
        "jaer": {
            "hashes": 4, "projections": 1, "width_px": 2.0, "time_unit_us": 1.0, "counters": 128,
            "clear": True, "threshold": 125, "cold_threshold": 20, "warm_event": 2_000,
        }
    }  # fmt: skip

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
        check_minimum(self, hashes=2, projections=1, window_events=1, threshold=0)
        check_minimum(self, cold_threshold=0, seed=0, warm_event=0)
        check_number("hashes", self.hashes, 2, _MAX_HASHES)
        check_number("projections", self.projections, 1, _MAX_HASHES)
        check_number("width_px", self.width_px, 0, open_low=True)
        check_number("time_unit_us", self.time_unit_us, 0, open_low=True)
        check_choice("counters", self.counters, (2**power for power in range(1, 18)))

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.density.hashheat import hash_heat

        state = (self.planes(), np.zeros(self.counters, np.int32), np.zeros(3, np.int64))
        rule = (self.window_events, self.clear, self.warm_event)
        thresholds = (self.cold_threshold, self.threshold)
        return KernelStream(resolution, hash_heat, "xyt", (*state, *rule, *thresholds))

    def planes(self) -> Floats:
        """Return the factors of x, y, t and 1; shape (hashes, projections, 4)."""
        rng = np.random.default_rng(self.seed)
        directions = rng.normal(size=(self.hashes, self.projections, 3)) / self.width_px
        directions[..., 2] /= self.time_unit_us
        return np.concatenate([directions, rng.random((*directions.shape[:2], 1))], axis=2)
