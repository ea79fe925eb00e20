"""Event-based bilateral filter: sum of the weights of the pixels around, by age and polarity."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, Filter, KernelStream


@dataclass(frozen=True, slots=True, kw_only=True)
class Ebf(Filter):
    r"""Keep an event if enough pixels around it fired recently with its polarity.

    The score is the sum of :math:`\max(0, 1 - \mathrm{age} / \tau)` over the pixels of the square
    whose last event has the polarity of the event. Its own pixel does not count.

    Parameters
    ----------
    tau_us : int
        Age at which an event no longer counts, us.
    radius : int
        Maximum distance in x and in y, px.
    threshold : float
        Events with a larger score are kept. Noise of n Hz/px has a mean score of
        :math:`n \tau ((2 r + 1)^2 - 1) / 4`: 0.2 n with the defaults.

    References
    ----------
    Guo, Shi, Wang, Jin, Lu, "EBF: an event-based bilateral filter for effective neuromorphic vision
    sensor denoising", IEEE T-CSVT, 2025.
    """

    name: ClassVar[str] = "ebf"
    about: ClassVar[About] = About(
        "Guo et al. 2025", "24 pixels", "1 time per pixel",
        "The authors' programs try thresholds from 0.1 to 15; the default is a choice of evcrisp.",
    )  # fmt: skip

    tau_us: int = 32_000
    radius: int = 2
    threshold: float = 5.0

    def __post_init__(self) -> None:
        check_number("tau_us", self.tau_us, 1, 10**10)
        check_number("radius", self.radius, 1, 100)
        check_number("threshold", self.threshold, 0)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.neighborhood import ebf as kernels

        width, height = (size + 2 * self.radius for size in resolution)
        # Signed times after tau; 0 = has not fired. The border never fires.
        times = np.zeros(height * width)

        def state(t_first: int) -> tuple[object, ...]:
            return times, kernels.Rule(
                radius=self.radius, tau_us=self.tau_us, threshold=float(self.threshold),
                origin_us=t_first - int(self.tau_us) - 2, stride=width,
            )  # fmt: skip

        kernel = kernels.sum_five_by_five if self.radius == 2 else kernels.sum_square
        return KernelStream(resolution, kernel, "xytp", state)
