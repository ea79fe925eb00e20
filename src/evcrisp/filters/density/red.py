"""Recursive event denoiser: keep events where the recent density of events is high."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.density.red_factors import blur_factors, periods_remembered, time_factors
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Red:
    r"""Keep an event if the density of events at its pixel, itself included, is high.

    Events are counted per pixel and period. At the end of a period the counts enter a linear filter
    of four states, whose response to one event is a bump that comes about 19 :math:`\sigma_t` periods
    later, and its output is blurred with a Gaussian. The score is that density plus the count of the
    current period; kept events have ``threshold`` or more.

    Parameters
    ----------
    period_us : int
        Length of a period, us.
    sigma_t : float
        Width of the filter in time, relative to that of E-MLB.
    sigma_px : float
        Width of the Gaussian, px.
    threshold : float
        Lowest density of kept events; 1 is the event itself.
    emlb : bool
        Repeat the defects of E-MLB: the map is blurred as if it were transposed, which mixes pixels
        that are far from each other; two factors of the blur are wrong; the density misses the last
        period, and a pause of any length counts as one period.

    Notes
    -----
    The preset "emlb" gives the labels of E-MLB. Its density is that of 30 ms ago, so that a moving
    edge has mostly left; the default looks back 3 ms.

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
        "There is no publication: the rule is that of the program. Widths other than 1 scale its time.",
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
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
        at_least("period_us", self.period_us, 1)
        for name in ("sigma_t", "sigma_px"):
            if not 0.05 <= getattr(self, name) <= 100:
                raise ConfigError(f"`{name}` must be 0.05 to 100; got {getattr(self, name)}.")
        if not np.isfinite(self.threshold):
            raise ConfigError(f"`threshold` must be a number; got {self.threshold}.")

    def start(self, resolution: tuple[int, int]) -> "RedStream":
        """Begin a recording without earlier events."""
        return RedStream(self, resolution)


@dataclass(slots=True, eq=False)
class RedStream(Causal):
    """The filter at work."""

    config: Red
    resolution: tuple[int, int]
    grid: tuple[int, int] = field(init=False)  # width and height of the map, px
    maps: tuple[NDArray[np.float32], ...] = field(init=False)  # states, counts, density, scratch
    clock: NDArray[np.int64] = field(init=False)  # (2,), see the kernel

    def __post_init__(self) -> None:
        unit = 8 if self.config.emlb else 1
        width, height = (-(-size // unit) * unit for size in self.resolution)
        self.grid = width, height
        size = width * height
        shapes = ((4, size), (size,), (size,), (3, (width + 8) * (height + 8)))
        self.maps = tuple(np.zeros(shape, np.float32) for shape in shapes)
        self.clock = np.zeros(2, np.int64)

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.red import red_labels

        events = checked(events, self.resolution)
        labels = Labels.room(len(events))
        config = self.config
        width, height = self.grid
        rows = width if config.emlb else height
        time = (self.clock, config.period_us, periods_remembered(config.sigma_t), config.emlb)
        factors = time_factors(config.sigma_t, emlb=config.emlb)
        factors += blur_factors(config.sigma_px, emlb=config.emlb)
        columns = (events.x, events.y, events.t, width, rows)
        threshold = np.float32(config.threshold)
        red_labels(*columns, *time, *self.maps, *factors, threshold, labels.signal, labels.score)
        return labels
