"""Recursive event denoiser (RED): keep events where the recent event density is high."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.validation import check_number
from evcrisp.filters.density.red_factors import blur_factors, periods_remembered, time_factors
from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class Red(Filter):
    r"""Keep an event if the density of events at its pixel, itself included, is high.

    Events are counted per pixel and period. At the end of a period the counts enter a linear filter
    of four states. Its impulse response is a bump about 19 :math:`\sigma_t` periods later; the
    output is blurred with a Gaussian. The score is this density plus the count of the current
    period; kept events have ``threshold`` or more.

    Parameters
    ----------
    period_us : int
        Duration of a period, us.
    sigma_t : float
        Width of the filter in time, relative to that of E-MLB.
    sigma_px : float
        Width of the Gaussian, px.
    threshold : float
        Minimum density of kept events; 1 is the event itself.
    emlb : bool
        Reproduce the defects of E-MLB: the map is blurred as if it were transposed, which mixes
        distant pixels; two factors of the blur are wrong; the density lacks the last period; and a
        pause of any duration counts as one period.

    Notes
    -----
    The preset "emlb" gives the labels of E-MLB. Its density is 30 ms old, so a moving edge has
    mostly left; with the defaults it is 3 ms old.

    References
    ----------
    E-MLB, ``ReclusiveEventDenoisor``. The idea is that of J. Chen et al., "Event signal filtering via
    probability flux estimation", arXiv:2504.07503.
    """

    name: ClassVar[str] = "red"
    about: ClassVar[About] = About(
        "E-MLB",
        "1 pixel; all pixels once per period",
        "9 numbers per pixel",
        "There is no publication; the rule follows the program. Widths other than 1 scale its time.",
    )
    presets: ClassVar[Presets] = {
        "emlb": {
            "period_us": 1_584,
            "sigma_t": 1.0,
            "sigma_px": 0.7,
            "threshold": 1.2840254,
            "emlb": True,
        }
    }

    period_us: int = 1_500
    sigma_t: float = 0.1
    sigma_px: float = 1.0
    threshold: float = 1.3
    emlb: bool = False

    def __post_init__(self) -> None:
        check_minimum(self, period_us=1)
        check_number("sigma_t", self.sigma_t, 0.05, 100)
        check_number("sigma_px", self.sigma_px, 0.05, 100)
        check_number("threshold", self.threshold)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.red import red_labels

        unit = 8 if self.emlb else 1
        width, height = (-(-size // unit) * unit for size in resolution)
        size = width * height
        # States, counts, density and buffer.
        shapes = ((4, size), (size,), (size,), (3, (width + 8) * (height + 8)))
        maps = (np.zeros(shape, np.float32) for shape in shapes)
        grid = (width, width if self.emlb else height)
        clock = (np.zeros(2, np.int64), self.period_us, periods_remembered(self.sigma_t), self.emlb)
        factors = time_factors(self.sigma_t, emlb=self.emlb)
        factors += blur_factors(self.sigma_px, emlb=self.emlb)
        state = (*grid, *clock, *maps, *factors, np.float32(self.threshold))
        return KernelStream(resolution, red_labels, "xyt", state)
