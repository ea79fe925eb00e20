"""Recursive event denoiser (RED): keep events where the recent event density is high."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.types import Singles
from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum

#: Transfer function of the filter in time for a width of 1, highest power of s first, from E-MLB.
_DENOMINATOR = (
    0.34814793501919405, 0.10174852241382108, 0.01328291668701808, 8.4187090564424416e-4
)  # fmt: skip
_NUMERATOR = (
    -0.034766724767231791, 0.036125652985477069, -0.016670622089231497, 0.0053166209859268057
)  # fmt: skip

#: Input factors of E-MLB; they differ from the transition's first column in the fourth digit.
_EMLB_ENTRY = (0.663969918056621, 0.829767541116738, 0.442905109514069, 0.152342252959110)


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
        compared=("emlb",),
    )
    presets: ClassVar[Presets] = {
        "emlb": {
            "period_us": 1_584, "sigma_t": 1.0, "sigma_px": 0.7, "threshold": 1.2840254,
            "emlb": True,
        }
    }  # fmt: skip

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
        from evcrisp.kernels.filters.density.red import red_labels

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


def time_factors(sigma_t: float, *, emlb: bool) -> tuple[Singles, Singles, Singles]:
    """Return transition (4, 4), entry (4,) and output (4,) of one period."""
    scale = sigma_t ** np.arange(1, 5)
    system = np.diag(np.ones(3), -1)
    system[0] = -np.array(_DENOMINATOR) / scale
    values, vectors = np.linalg.eig(system)
    transition = ((vectors * np.exp(values)) @ np.linalg.inv(vectors)).real
    entry = np.array(_EMLB_ENTRY) if emlb else transition[:, 0]
    output = np.array(_NUMERATOR) / scale
    return transition.astype(np.float32), entry.astype(np.float32), output.astype(np.float32)


def periods_remembered(sigma_t: float) -> int:
    """Return the number of periods in which the states decay to a millionth."""
    slowest = -max(root.real for root in np.roots([1.0, *_DENOMINATOR])) / sigma_t
    return math.ceil(math.log(1e6) / slowest)


def blur_factors(sigma: float, *, emlb: bool) -> tuple[Singles, Singles, Singles]:
    """Return causal, anticausal and feedback factors, (4,) each, of a recursive Gaussian.

    Deriche's fourth-order approximation. E-MLB has a wrong third feedback factor and no fourth.
    """
    decay0, decay1 = math.exp(-1.783 / sigma), math.exp(-1.723 / sigma)
    cos0, sin0 = math.cos(0.6319 / sigma), math.sin(0.6319 / sigma)
    cos1, sin1 = math.cos(1.997 / sigma), math.sin(1.997 / sigma)
    a, b, c, d = 1.68, 3.735, -0.6803, -0.2598
    down = np.array([
        a + c,
        decay1 * (d * sin1 - (c + 2 * a) * cos1) + decay0 * (b * sin0 - (2 * c + a) * cos0),
        2 * decay0 * decay1 * ((a + c) * cos1 * cos0 - b * cos1 * sin0 - d * cos0 * sin1)
        + c * decay0**2 + a * decay1**2,
        decay1 * decay0**2 * (d * sin1 - c * cos1) + decay0 * decay1**2 * (b * sin0 - a * cos0),
    ]) / (math.sqrt(2 * math.pi) * sigma)  # fmt: skip
    recursion = np.array([
        -2 * decay1 * cos1 - 2 * decay0 * cos0,
        4 * decay0 * decay1 * cos1 * cos0 + decay1**2 + decay0**2,
        -2 * decay0 * decay1**2 * (cos1 if emlb else cos0) - 2 * decay1 * decay0**2 * cos1,
        (decay0 * decay1) ** 2,
    ])  # fmt: skip
    up = np.append(down[1:], 0.0) - recursion * down[0]
    if emlb:
        recursion[3] = 0.0
    return down.astype(np.float32), up.astype(np.float32), recursion.astype(np.float32)
