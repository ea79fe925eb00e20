"""Filter in memory of width plus height: the last event of each column and row gives support."""

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
class KNoise:
    r"""Keep an event if the last events of the columns and rows around it lie beside it.

    Three columns and three rows each remember one event; those at most one pixel away and at most
    ``tau_us`` old support. One neighbor may count twice, by its column and by its row. The score is
    :math:`\tau / (\tau + \mathrm{age})` of the k-th newest support, and 0 without.

    Parameters
    ----------
    tau_us : int
        Longest age of the supporting events, us.
    k : int
        How many of the six have to support.
    same_polarity : bool
        Count events of the same polarity only.
    include_self : bool
        Let the earlier event of the same pixel support, too.
    zero_start : bool
        Start as if every column and row had seen an OFF event at time 0 at its first pixel.

    Notes
    -----
    Presets: "emlb" and "kugamas" (the first version of E-MLB) give the labels of these programs,
    "dv" those of dv-processing.

    References
    ----------
    A. Khodamoradi, R. Kastner, "O(N)-space spatiotemporal filter for reducing noise in neuromorphic
    vision sensors", IEEE Trans. Emerging Topics in Computing, 2018.
    """

    name: ClassVar[str] = "knoise"
    about: ClassVar[About] = About(
        "Khodamoradi and Kastner 2018", "6 cells", "1 event per column and row"
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "emlb": {"tau_us": 2_000, "k": 1, "zero_start": True},
        "kugamas": {"tau_us": 10_000, "k": 1},
        "dv": {"tau_us": 1_000, "include_self": True, "zero_start": True},
    }

    tau_us: int = 2_000
    k: int = 1
    same_polarity: bool = True
    include_self: bool = False
    zero_start: bool = False

    def __post_init__(self) -> None:
        at_least("tau_us", self.tau_us, 1)
        if not 1 <= self.k <= 6:
            raise ConfigError(f"`k` must be 1 to 6, the number of cells; got {self.k}.")

    def start(self, resolution: tuple[int, int]) -> "KNoiseStream":
        """Begin a recording in which no event has come."""
        return KNoiseStream(self, resolution)


class KNoiseStream(Causal):
    """The filter at work; remembers the last event of each column and row."""

    __slots__ = ("_columns", "_config", "_resolution", "_rows", "_rule")

    def __init__(self, config: KNoise, resolution: tuple[int, int]) -> None:
        self._config = config
        self._resolution = resolution
        self._rule: tuple[int, int, int, int] | None = None  # known when the first event comes

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.knoise import line_support

        events = checked(events, self._resolution)
        labels = Labels.room(len(events))
        if len(events):
            rule = self._rule or self._begin(int(events.t[0]))
            columns = (events.x, events.y, events.t, events.p.view(np.uint8))
            planes = 2 if self._config.same_polarity else 1
            state = (self._columns, self._rows, planes, rule)
            line_support(*columns, *state, labels.signal, labels.score)
        return labels

    def _begin(self, origin_us: int) -> tuple[int, int, int, int]:
        self._columns, self._rows = (self._line(size, origin_us) for size in self._resolution)
        config = self._config
        self._rule = (config.k, config.tau_us, origin_us, int(config.include_self))
        return self._rule

    def _line(self, size: int, origin_us: int) -> NDArray[np.float64]:
        """Return times and positions of the last events, (size + 2, planes, 2), flat."""
        from evcrisp.kernels.filters.recent_neighbors import NEVER_FLOAT

        line = np.zeros((size + 2, 2 if self._config.same_polarity else 1, 2))
        line[:, :, 0] = NEVER_FLOAT
        if self._config.zero_start:
            line[1:-1, 0, 0] = float(-origin_us)
        return line.ravel()
