"""Time surface: an event stays if the pixels around it fired lately, on the mean."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Ts:
    r"""Keep an event if the mean of :math:`\exp(-\mathrm{age} / \tau)` around it is large.

    The mean goes over the pixels of the square, the own included, that ever fired with the polarity
    of the event. It is the score. It is a mean and not a sum: one recent neighbor alone gives almost
    1, and old events beside it lower that.

    Parameters
    ----------
    tau_us : int
        Time constant, us.
    radius : int
        Half the size of the square, px.
    threshold : float
        Smallest score of kept events, above 0 and at most 1.
    zero_start : bool
        Forget events at the time 0, as programs do for which 0 means never.

    Notes
    -----
    The preset "emlb" gives the labels of E-MLB's program with the settings of its experiments; its
    C++ code alone has 20 ms.

    References
    ----------
    X. Lagorce et al., "HOTS: a hierarchy of event-based time-surfaces for pattern recognition",
    IEEE T-PAMI, 2017.
    """

    name: ClassVar[str] = "ts"
    about: ClassVar[About] = About(
        "E-MLB, after Lagorce 2017", "9 pixels", "1 time and 1 count per pixel and polarity"
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "emlb": {"tau_us": 2_000, "radius": 1, "threshold": 0.2, "zero_start": True},
    }

    tau_us: int = 2_000
    radius: int = 1
    threshold: float = 0.2
    zero_start: bool = False

    def __post_init__(self) -> None:
        at_least("tau_us", self.tau_us, 1, most=10**10)
        at_least("radius", self.radius, 1, most=100)
        if not 0.0 < self.threshold <= 1.0:
            raise ConfigError(f"`threshold` must be above 0 and at most 1; got {self.threshold}.")

    def start(self, resolution: tuple[int, int]) -> "TsStream":
        """Begin a recording in which no pixel has fired."""
        return TsStream(self, resolution)


class TsStream(Causal):
    """The filter at work; remembers the last event per polarity and pixel."""

    __slots__ = ("_growth", "_n_fired", "_resolution", "_settings", "_start", "_weights")

    def __init__(self, config: Ts, resolution: tuple[int, int]) -> None:
        from evcrisp.kernels.filters.recent_neighbors import NEVER
        from evcrisp.kernels.filters.decay import Growth

        (width, height), border = resolution, 2 * config.radius
        self._resolution = resolution
        self._weights = np.zeros((2, height + border, width + border))
        self._n_fired = np.zeros(self._weights.shape, np.int32)
        self._growth = Growth.of(config.tau_us, math.e, 64)
        self._start: NDArray[np.int64] | None = None  # (1,) us; known when the first event comes
        never = 0 if config.zero_start else NEVER
        self._settings = (config.radius, float(config.threshold), never)

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.ts import mean_decay

        events = checked(events, self._resolution)
        labels = Labels.room(len(events))
        if len(events):
            self._start = events.t[:1].copy() if self._start is None else self._start
            columns = (events.x, events.y, events.t, events.p.view(np.uint8))
            state = (self._weights, self._n_fired, self._start, self._growth, self._settings)
            mean_decay(*columns, *state, labels.signal, labels.score)
        return labels
