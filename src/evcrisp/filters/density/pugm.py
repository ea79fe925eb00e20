"""Probabilistic undirected graph model: a Markov random field on cells of space and time."""

import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Bytes, Integers
from evcrisp.core.validation import check_number
from evcrisp.filters.density.dbscan import columns_by_polarity
from evcrisp.filters.protocol import About, Filter, Labels, check_minimum, check_sensor

_Pixels = tuple[Integers, NDArray[np.uint16]]

_NO_PIXELS: _Pixels = (np.empty(0, np.int32), np.empty(0, np.uint16))


#: Limits: each sweep keeps maps of the sensor in memory; energies are sums of a few terms.
_MAX_SWEEPS, _MAX_ENERGY = 64, 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Pugm(Filter):
    r"""Keep the events in the most likely state of a Markov random field.

    Space and time are divided into cells of one pixel and ``bin_us``. A cell is on (+1, signal) or
    off (-1). The energy :math:`-\eta \sum_i x_i y_i - \beta \sum_{ij} w_{ij} x_i x_j` is low if
    cells agree with the observation (:math:`y_i = 1` where there are events) and with their 26
    neighbors, weighted by one over distance. Iterated conditional modes (ICM) reduce it, starting
    from the observation: each sweep turns off the cells with too few neighbors. The score is half of
    the energy that dropping the event's cell adds; kept events have 0 or more. Labels are
    ``sweeps + 1`` bins late. No sweep turns a cell on, so the order of the cells within a sweep does
    not affect the final state; all cells are updated at once, so labels do not depend on the chunks.

    Parameters
    ----------
    bin_us : int
        Duration of a cell, us.
    sweeps : int
        Number of sweeps.
    data : float
        Weight :math:`\eta` of the observation.
    coupling : float
        Weight :math:`\beta` of the neighbors.
    same_polarity : bool
        Use separate fields for ON and OFF events.

    References
    ----------
    J. Wu et al., "Probabilistic undirected graph based denoising method for dynamic vision sensor",
    IEEE Trans. Multimedia, 2020.
    """

    name: ClassVar[str] = "pugm"
    about: ClassVar[About] = About(
        "Wu et al. 2020",
        "27 cells per sweep",
        "2 (sweeps + 1) (sweeps + 3) bytes per pixel, the events of sweeps + 1 bins",
        "Only the abstract was available: the grid, the neighbors, their weights and all constants "
        "are choices of evcrisp.",
    )
    is_causal: ClassVar[bool] = False

    bin_us: int = 4_000
    sweeps: int = 2
    data: float = 16.0
    coupling: float = 1.0
    same_polarity: bool = True

    def __post_init__(self) -> None:
        check_minimum(self, bin_us=1, sweeps=1)
        check_number("sweeps", self.sweeps, 1, _MAX_SWEEPS)
        check_number("data", self.data, -_MAX_ENERGY, _MAX_ENERGY)
        check_number("coupling", self.coupling, 0, _MAX_ENERGY, open_low=True)

    def start(self, resolution: tuple[int, int]) -> "PugmStream":
        """Start a recording."""
        return PugmStream(self, resolution)


class PugmStream:
    """State of the filter; when a bin is complete, sweep i runs over the i-th bin before it."""

    def __init__(self, config: Pugm, resolution: tuple[int, int]) -> None:
        width, height = resolution
        self._config, self._resolution = config, resolution
        self._start: int | None = None  # us, time of the first event
        self._bin = 0  # index of the bin that is not complete yet
        self._open: list[_Pixels] = []  # its events
        self._bins: deque[_Pixels] = deque(maxlen=config.sweeps + 1)  # complete bins, newest last
        self._n_bins = 0  # number of complete bins so far
        # By sweep, and by bin modulo size: 1 where events are kept.
        columns = (1 + config.same_polarity) * (width + 2)
        shape = (config.sweeps + 1, config.sweeps + 3, height + 2, columns)
        self._cells: Bytes = np.zeros(shape, np.uint8)

    def label(self, events: Events) -> Labels:
        """Process the next chunk; label the bins for which all sweeps are done."""
        events = check_sensor(events, self._resolution)
        if not len(events):
            return Labels.empty(0)
        if self._start is None:
            self._start = int(events.t[0])
        bins = (events.t - self._start) // self._config.bin_us
        cuts = [0, *(np.flatnonzero(np.diff(bins)) + 1).tolist(), len(events)]
        x = columns_by_polarity(events, 2, split=self._config.same_polarity)
        ready: list[Labels] = []
        for first, stop in itertools.pairwise(cuts):
            ready += self._close(int(bins[first]))
            self._open.append((x[first:stop], events.y[first:stop]))
        return Labels.concatenate(ready)

    def finish(self) -> Labels:
        """Label the held events."""
        return Labels.concatenate(list(self._close(self._bin + self._config.sweeps + 1)))

    def _close(self, new: int) -> Iterator[Labels]:
        """Complete the bins before ``new``; yield the labels that become final."""
        if new == self._bin:
            return
        x, y = (np.concatenate(parts) for parts in zip(_NO_PIXELS, *self._open, strict=True))
        yield from self._complete(x, y)
        # After this many empty bins all labels are final and all cells are cleared.
        for _ in range(min(new - self._bin - 1, self._cells.shape[1])):
            yield from self._complete(*_NO_PIXELS)
        self._bin = new
        self._open = []

    def _complete(self, x: Integers, y: NDArray[np.uint16]) -> Iterator[Labels]:
        """Add a complete bin and run the sweeps that it makes possible."""
        from evcrisp.kernels.filters.density.pugm import icm_sweep

        config = self._config
        newest, size = self._n_bins, self._cells.shape[1]
        self._bins.append((x, y))
        self._n_bins += 1
        self._cells[:, newest % size] = 0
        self._cells[0, newest % size, y + 1, x + 1] = 1
        # The slot after the newest bin is outdated; no sweep reads it.
        for level in range(1, len(self._bins)):
            events = self._bins[-1 - level]
            gain = np.empty(events[0].size)
            slices = [self._cells[level - 1, (newest - level + i) % size] for i in (-1, 0, 1)]
            kept = self._cells[level, (newest - level) % size]
            icm_sweep(*events, *slices, config.data, config.coupling, kept, gain)
            if level == config.sweeps:
                yield Labels(gain >= 0.0, gain)
