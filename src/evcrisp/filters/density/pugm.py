"""Probabilistic undirected graph: cells of space and time hold together, or fall."""

import itertools
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.held_events import columns_by_polarity
from evcrisp.filters.protocol import About, Labels, checked

_Pixels = tuple[NDArray[np.int32], NDArray[np.uint16]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pugm:
    r"""Keep the events of the most likely state of a field of cells that prefer to agree.

    Space and time are cut into cells of one pixel and ``bin_us``. A cell is on (+1) or off (-1); off
    cells have no signal. The energy :math:`-\eta \sum_i x_i y_i - \beta \sum_{ij} w_{ij} x_i x_j` wants
    cells to agree with what was seen (:math:`y_i = 1` where there are events) and with their 26
    neighbors, with weights of one over distance. Iterated conditional modes lower it, starting from
    all that was seen: each sweep turns the cells off that have too few neighbors left. The score is
    half of the energy that dropping the event's cell adds; kept events have 0 or more. Labels come
    ``sweeps + 1`` bins late.

    Parameters
    ----------
    bin_us : int
        Length of a cell in time, us.
    sweeps : int
        Number of sweeps.
    data : float
        Weight :math:`\eta` of what was seen.
    coupling : float
        Weight :math:`\beta` of the neighbors.
    same_polarity : bool
        Have one field for ON and one for OFF events.

    Notes
    -----
    No sweep turns a cell on, so the order of the cells within a sweep does not matter in the end;
    all cells of a sweep are updated at once, which makes labels independent of the chunks.

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
        "Only the summary could be read: the grid, the neighbors, their weights and all constants "
        "are ours.",
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    bin_us: int = 4_000
    sweeps: int = 2
    data: float = 16.0
    coupling: float = 1.0
    same_polarity: bool = True

    def __post_init__(self) -> None:
        at_least("bin_us", self.bin_us, 1)
        at_least("sweeps", self.sweeps, 1)
        if not (np.isfinite(self.data) and np.isfinite(self.coupling) and self.coupling > 0):
            raise ConfigError(
                "`data` must be a number and `coupling` a positive one; "
                f"got {self.data} and {self.coupling}."
            )

    def start(self, resolution: tuple[int, int]) -> "PugmStream":
        """Begin a recording without earlier events."""
        return PugmStream(self, resolution)


class PugmStream:
    """The filter at work; when a bin is complete, sweep i runs over the i-th bin before it."""

    __slots__ = ("_bin", "_bins", "_cells", "_config", "_n_bins", "_open", "_resolution", "_start")

    def __init__(self, config: Pugm, resolution: tuple[int, int]) -> None:
        width, height = resolution
        self._config = config
        self._resolution = resolution
        self._start: int | None = None  # time of the first event
        self._bin = 0  # the bin that is not complete yet
        self._open: list[_Pixels] = []  # its events
        self._bins: deque[_Pixels] = deque(maxlen=config.sweeps + 1)  # complete ones, latest last
        self._n_bins = 0  # how many there were
        # By sweep, and by bin modulo size: 1 where events stay.
        columns = (1 + config.same_polarity) * (width + 2)
        shape = (config.sweeps + 1, config.sweeps + 3, height + 2, columns)
        self._cells: NDArray[np.uint8] = np.zeros(shape, np.uint8)

    def label(self, events: Events) -> Labels:
        """Take the next chunk; label the bins that no sweep reaches any more."""
        events = checked(events, self._resolution)
        if not len(events):
            return Labels.room(0)
        if self._start is None:
            self._start = int(events.t[0])
        bins = (events.t - self._start) // self._config.bin_us
        cuts = [0, *(np.flatnonzero(np.diff(bins)) + 1).tolist(), len(events)]
        x = columns_by_polarity(events, 2, apart=self._config.same_polarity)
        ready: list[Labels] = []
        for a, b in itertools.pairwise(cuts):
            ready += self._close(int(bins[a]))
            self._open.append((x[a:b], events.y[a:b]))
        return Labels.joined(ready)

    def finish(self) -> Labels:
        """Label the rest, after which nothing comes."""
        return Labels.joined(list(self._close(self._bin + self._config.sweeps + 1)))

    def _close(self, new: int) -> Iterator[Labels]:
        """Complete the bins before ``new``, and yield the labels that become final."""
        if new == self._bin:
            return
        x = np.concatenate([np.empty(0, np.int32), *(part[0] for part in self._open)])
        y = np.concatenate([np.empty(0, np.uint16), *(part[1] for part in self._open)])
        yield from self._complete(x, y)
        nobody = np.empty(0, np.int32), np.empty(0, np.uint16)
        # After this many bins without events all labels are out, and nothing is left to clear.
        for _ in range(min(new - self._bin - 1, self._cells.shape[1])):
            yield from self._complete(*nobody)
        self._bin = new
        self._open = []

    def _complete(self, x: NDArray[np.int32], y: NDArray[np.uint16]) -> Iterator[Labels]:
        from evcrisp.kernels.filters.pugm import sweep

        config = self._config
        newest, size = self._n_bins, self._cells.shape[1]
        self._bins.append((x, y))
        self._n_bins += 1
        self._cells[:, newest % size] = 0
        self._cells[0, newest % size, y + 1, x + 1] = 1
        # The bin after the newest one is stale; no sweep looks at it.
        for level in range(1, len(self._bins)):
            events = self._bins[-1 - level]
            gain = np.empty(events[0].size)
            around = [self._cells[level - 1, (newest - level + i) % size] for i in (-1, 0, 1)]
            kept = self._cells[level, (newest - level) % size]
            sweep(*events, *around, config.data, config.coupling, kept, gain)
            if level == config.sweeps:
                yield Labels(gain >= 0.0, gain)
