"""Polarity-focused denoising: recent neighbors, and equal numbers of changes of polarity."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class Pfd(Filter):
    r"""Keep an event if its neighbors fired recently and changed polarity as often as its pixel.

    Three tests on the eight neighbors: ``k`` of them fired with the polarity of the event at most
    ``tau_us`` earlier; ``min_active`` of them fired at most ``window_us`` earlier; in this time the
    polarity at the event's pixel changed as often as on average at those, up to ``max_changes``.

    Each test has a score that is at least 0.5 if it is passed: :math:`\tau / (\tau +
    \mathrm{age})` of the k-th newest event of the same polarity, the same for the other time and
    number, and :math:`c / (c + \mathrm{difference})` with :math:`c` = ``max_changes``. The score
    of the event is half the mean of the three, and 0.5 more for kept events.

    Parameters
    ----------
    tau_us : int
        Maximum age of an event of the same polarity, us.
    k : int
        Number of neighbors that must have one.
    window_us : int
        Time in which events and changes count, us.
    min_active : int
        Number of neighbors that must be active.
    max_changes : float
        Maximum difference between the number of changes and the mean of the active neighbors.
    flicker : bool
        Drop flicker too (PFD-B): the mean itself must be at most ``max_changes``.
    memory : int
        Number of changes that each pixel remembers.
    first_polarity : bool
        Count an event that differs from the first polarity of its pixel, not from the last, as a
        change.
    zero_start : bool
        Start as if each pixel had fired at time 0, and ignore the polarity of events at time 0.

    References
    ----------
    Shi et al., "Polarity-focused denoising for event cameras", IEEE T-CSVT, 2025.
    """

    name: ClassVar[str] = "pfd"
    about: ClassVar[About] = About(
        "Shi et al. 2025", "8 pixels and their changes", "3 + memory times per pixel",
        "The authors have two programs that differ; this is the one that works event by event, with "
        "the changes and the limit of the other. The score is a choice of evcrisp.", compared=("pfds",))  # fmt: skip
    presets: ClassVar[Presets] = {
        # Its differences are whole numbers, rounded down, and at most 1. Without rounding they are
        # multiples of 1/2 to 1/8, so that a limit of 1.9 is the same.
        "pfds": {
            "tau_us": 24_999, "max_changes": 1.9, "first_polarity": True, "zero_start": True,
        },
    }  # fmt: skip

    tau_us: int = 25_000
    k: int = 1
    window_us: int = 25_000
    min_active: int = 4
    max_changes: float = 1.0
    flicker: bool = False
    memory: int = 5
    first_polarity: bool = False
    zero_start: bool = False

    def __post_init__(self) -> None:
        check_minimum(self, tau_us=1, window_us=1)
        check_number("k", self.k, 1, 8)
        check_number("min_active", self.min_active, 1, 8)
        check_number("max_changes", self.max_changes, 0, open_low=True)
        check_number("memory", self.memory, 1, 1000)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.neighborhood import pfd as kernels
        from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER_FLOAT

        width, height = (size + 2 for size in resolution)
        n = height * width

        def state(t_first: int) -> tuple[object, ...]:
            latest = np.full((height, width), NEVER_FLOAT)
            if self.zero_start:
                latest[1:-1, 1:-1] = float(-t_first)
            maps = kernels.Maps(
                same=np.full(2 * n, NEVER_FLOAT),
                latest=latest.ravel(),
                polarity=np.full(n, kernels.UNSEEN, np.uint8),
                changes=np.full(self.memory * n, NEVER_FLOAT),
            )
            rule = kernels.Rule(
                k=self.k, tau_us=self.tau_us, min_active=self.min_active, window_us=self.window_us,
                max_changes=float(self.max_changes), flicker=self.flicker,
                first_polarity=self.first_polarity, zero_start=self.zero_start,
                origin_us=t_first, stride=width,
            )  # fmt: skip
            return maps, rule

        return KernelStream(resolution, kernels.polarity_changes, "xytp", state)
