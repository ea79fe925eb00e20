"""Hot pixels: drop events of pixels that fire far more often than their neighbors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, Filter, KernelStream


@dataclass(frozen=True, slots=True, kw_only=True)
class HotPixel(Filter):
    r"""Drop events of pixels whose count exceeds ``least + factor * mean`` of their neighbors.

    The count of a pixel decays: an event adds 1, and half remains after each half-life. The mean is
    over the other pixels at most two pixels away. The score is :math:`L / (L + c)` with the limit
    :math:`L` and the count :math:`c` of the pixel, the event included. The first ``least`` events of
    a hot pixel pass.

    Parameters
    ----------
    least : float
        Count that every pixel may have.
    factor : float
        Additional count, relative to the mean of the neighbors.
    half_life_us : int
        Time in which counts decay to one half, us.
    """

    name: ClassVar[str] = "hotpixel"
    about: ClassVar[About] = About("evcrisp", "25 pixels", "1 count per pixel")

    least: float = 12.0
    factor: float = 6.0
    half_life_us: int = 1_000_000

    def __post_init__(self) -> None:
        check_number("half_life_us", self.half_life_us, 1, 10**10)
        check_number("least", self.least, 0, open_low=True)
        check_number("factor", self.factor, 0, open_low=True)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.bursts.hot_pixel import count_excess
        from evcrisp.kernels.filters.decay import DecayTable

        counts = np.zeros((resolution[1] + 4, resolution[0] + 4))
        table = DecayTable.build(self.half_life_us, 2.0, 16)
        limits = (float(self.least), float(self.factor))

        def state(t_first: int) -> tuple[object, ...]:
            return counts, np.array([t_first], np.int64), table, limits

        return KernelStream(resolution, count_excess, "xyt", state)
