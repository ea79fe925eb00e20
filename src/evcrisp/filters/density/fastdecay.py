"""Fast decay filter of dv-processing: a leaky count of the events of a small square of pixels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class FastDecay:
    r"""Keep an event if the count of events in its cell, which halves with time, is large.

    The sensor is cut into cells; each event multiplies the count of its cell by
    :math:`2^{-\Delta t / T}` and adds 1. The score is that count, itself included, in single
    precision; kept events have more than ``threshold``.

    Parameters
    ----------
    half_life_us : int
        Time T in which a count halves, us.
    cell_px : int
        Side of a cell, px.
    threshold : float
        Count above which events stay.

    Notes
    -----
    The defaults are those of dv-processing, and the labels are equal to its labels.

    References
    ----------
    iniVation, dv-processing, ``FastDecayNoiseFilter``.
    """

    name: ClassVar[str] = "fastdecay"
    about: ClassVar[About] = About(
        "iniVation, dv-processing", "1 cell, 1 power of two", "1 time and 1 count per cell"
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "dv": {"half_life_us": 10_000, "cell_px": 4, "threshold": 6.0}
    }

    half_life_us: int = 10_000
    cell_px: int = 4
    threshold: float = 6.0

    def __post_init__(self) -> None:
        at_least("half_life_us", self.half_life_us, 1)
        at_least("cell_px", self.cell_px, 1)
        at_least("threshold", self.threshold, 0)

    def start(self, resolution: tuple[int, int]) -> "FastDecayStream":
        """Begin a recording in which no cell has counted."""
        columns, rows = (-(-size // self.cell_px) for size in resolution)
        last = np.zeros((rows, columns), np.int64)
        return FastDecayStream(self, resolution, last, np.zeros((rows, columns), np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class FastDecayStream(Causal):
    """The filter at work; the level of a cell that never fired is 0."""

    config: FastDecay
    resolution: tuple[int, int]
    last: NDArray[np.int64]  # (rows, columns) us
    level: NDArray[np.float32]  # (rows, columns)

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.fastdecay import fast_decay

        events = checked(events, self.resolution)
        labels = Labels.room(len(events))
        config = self.config
        cell_of = np.arange(max(self.resolution)) // config.cell_px
        rule = (cell_of, np.float32(config.half_life_us), np.float32(config.threshold))
        columns = (events.x, events.y, events.t, self.last, self.level)
        fast_decay(*columns, *rule, labels.signal, labels.score)
        return labels
