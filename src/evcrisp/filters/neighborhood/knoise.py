"""Filter with memory of width plus height: one event per column and row."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class KNoise(Filter):
    r"""Keep an event if the last events of the nearest columns and rows are next to it.

    Three columns and three rows each store their last event. Those at most one pixel away and at
    most ``tau_us`` old count; one neighbor can count twice, by its column and by its row. The score
    is :math:`\tau / (\tau + \mathrm{age})` of the k-th newest of them, and 0 if there are fewer.

    Parameters
    ----------
    tau_us : int
        Maximum age of the stored events, us.
    k : int
        Number of the six that must count.
    same_polarity : bool
        Count only events with the polarity of the event.
    include_self : bool
        Count earlier events of the same pixel.
    zero_start : bool
        Start as if each column and row had an OFF event at time 0 at its first pixel.

    References
    ----------
    A. Khodamoradi, R. Kastner, "O(N)-space spatiotemporal filter for reducing noise in neuromorphic
    vision sensors", IEEE Trans. Emerging Topics in Computing, 2018.
    """

    name: ClassVar[str] = "knoise"
    about: ClassVar[About] = About(
        "Khodamoradi and Kastner 2018",
        "6 cells",
        "1 event per column and row",
        compared=("emlb", "kugamas", "dv"),
    )
    presets: ClassVar[Presets] = {
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
        check_minimum(self, tau_us=1)
        check_number("k", self.k, 1, 6)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.neighborhood.knoise import row_column_neighbors

        def state(t_first: int) -> tuple[object, ...]:
            columns, rows = (self._cells(size, t_first) for size in resolution)
            rule = (self.k, self.tau_us, t_first, int(self.include_self))
            return columns, rows, 1 + self.same_polarity, rule

        return KernelStream(resolution, row_column_neighbors, "xytp", state)

    def _cells(self, size: int, t_first: int) -> Floats:
        """Return time and position of the last event per line, (size + 2, planes, 2), flat."""
        from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER_FLOAT

        cells = np.zeros((size + 2, 1 + self.same_polarity, 2))
        cells[:, :, 0] = NEVER_FLOAT
        if self.zero_start:
            cells[1:-1, 0, 0] = float(-t_first)
        return cells.ravel()
