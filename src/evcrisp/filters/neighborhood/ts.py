"""Time surface: keep events where the pixels around fired recently on average."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, Filter, KernelStream, Presets


@dataclass(frozen=True, slots=True, kw_only=True)
class Ts(Filter):
    r"""Keep an event if the mean of :math:`\exp(-\mathrm{age} / \tau)` around it is large.

    The mean is over the pixels of the square, the event's own included, that have fired with its
    polarity. The score is this mean. One recent neighbor gives almost 1; older ones reduce it.

    Parameters
    ----------
    tau_us : int
        Time constant, us.
    radius : int
        Maximum distance of the pixels in x and in y, px.
    threshold : float
        Minimum score of kept events, above 0 and at most 1.
    zero_start : bool
        Ignore events at time 0, like programs in which 0 means that a pixel has not fired.

    References
    ----------
    X. Lagorce et al., "HOTS: a hierarchy of event-based time-surfaces for pattern recognition",
    IEEE T-PAMI, 2017.
    """

    name: ClassVar[str] = "ts"
    about: ClassVar[About] = About(
        "E-MLB, after Lagorce 2017",
        "9 pixels",
        "1 time and 1 count per pixel and polarity",
        compared=("emlb",),
    )
    presets: ClassVar[Presets] = {  # of the experiments of E-MLB; its C++ default is 20 ms
        "emlb": {"tau_us": 2_000, "radius": 1, "threshold": 0.2, "zero_start": True},
    }

    tau_us: int = 2_000
    radius: int = 1
    threshold: float = 0.2
    zero_start: bool = False

    def __post_init__(self) -> None:
        check_number("tau_us", self.tau_us, 1, 10**10)
        check_number("radius", self.radius, 1, 100)
        check_number("threshold", self.threshold, 0, 1, open_low=True)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.decay import DecayTable
        from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER
        from evcrisp.kernels.filters.neighborhood.ts import time_surface_mean

        (width, height), border = resolution, 2 * self.radius
        weights = np.zeros((2, height + border, width + border))
        maps = (weights, np.zeros(weights.shape, np.int32))
        table = DecayTable.build(self.tau_us, math.e, 64)
        settings = (self.radius, float(self.threshold), 0 if self.zero_start else NEVER)

        def state(t_first: int) -> tuple[object, ...]:
            return *maps, np.array([t_first], np.int64), table, settings

        return KernelStream(resolution, time_surface_mean, "xytp", state)
