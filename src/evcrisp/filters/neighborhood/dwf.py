"""Double window filter: keep events near one of the last kept or dropped events."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum

#: Limit of the length of a window, so that it fits into memory.
_MAX_LENGTH = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Dwf(Filter):
    r"""Keep an event if ``k`` of the last kept and the last dropped events are near it.

    Time and polarity are ignored, so the result depends on the event rate. The score is
    :math:`r / (r + d)` with the L1 distance :math:`d` to the k-th nearest of them.

    Parameters
    ----------
    length : int
        Number of kept events, and of dropped events, in memory.
    radius_px : int
        Maximum distance :math:`|dx| + |dy|`, px.
    k : int
        Number of events that must be near.
    warm_up : int
        Events dropped at the start; the first ``length`` of them are stored as kept events.
    zero_start : bool
        Start with memories full of events at the pixel (0, 0).

    References
    ----------
    Guo, Delbruck, "Low cost and latency event camera background activity denoising", PAMI, 2022.
    """

    name: ClassVar[str] = "dwf"
    about: ClassVar[About] = About(
        "Guo and Delbruck 2022", "2 length events", "2 length events", compared=("emlb", "kugamas")
    )
    presets: ClassVar[Presets] = {
        "emlb": {"length": 36, "radius_px": 9, "k": 1, "zero_start": True},
        "kugamas": {"length": 8, "radius_px": 10, "k": 1, "warm_up": 8},
        "jaer": {"length": 256, "radius_px": 4, "k": 1, "warm_up": 512},  # a distance below 5
    }

    length: int = 36
    radius_px: int = 9
    k: int = 1
    warm_up: int = 0
    zero_start: bool = False

    def __post_init__(self) -> None:
        check_minimum(self, length=1, radius_px=1, k=1, warm_up=0)
        check_number("length", self.length, 1, _MAX_LENGTH)
        check_number("k", self.k, 1, 2 * self.length, remedy="Increase `length`.")

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.neighborhood.dwf import FAR, window_distance

        # x and y of the kept events, then of the dropped ones.
        xs, ys = np.full((2, 2 * self.length), 0 if self.zero_start else FAR, np.int32)
        rule = (self.k, self.radius_px, self.warm_up)
        state = (xs, ys, np.zeros(3, np.int64), rule)
        return KernelStream(resolution, window_distance, "xy", state)
