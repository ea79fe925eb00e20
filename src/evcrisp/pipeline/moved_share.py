"""Tell how much of the image has moved within the first part of a stream, from its events alone.

::

    thirds of the events       |  first  |  second  |  third  |
    every tile of 32 px        does the next third fit better one cell (4 px) further than in place?

Noise of a constant rate fits nowhere, and so does not count. A tile whose structure is gone has moved
too: farther than a cell.
"""

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats

#: Side of a cell, px, a power of two, and of a tile, cells (that of the kernels). When the image has moved by a cell
#: from third to third it has moved by 6 to 8 px in the window.
_CELL_BITS, _TILE = 2, 8

#: Counts enter as ``2 * sqrt(n + 3/8)``, whose variance is 1 for noise of any rate; in units of 1/16.
_SCALE, _MAX_COUNT = 16, 4096

#: Structure that a tile needs, and gain that shows that it has moved, in standard deviations of noise.
_MIN_STRUCTURE, _MIN_GAIN = 4.0, 2.0

#: A tile that keeps less than this of its structure has moved farther than a cell.
_GONE = 0.3

#: Structure of all tiles together below which no motion is determined: that of four tiles with the least.
_MIN_TILES = 4


class MovedShare:
    """Computes the share of the image that has moved; keeps its buffers.

    Parameters
    ----------
    resolution : (int, int), px
        (width, height) of the sensor.

    Examples
    --------
    >>> import evcrisp
    >>> events = evcrisp.simulate(theta=(300, 0), duration_us=60_000, noise_hz=5.0, seed=1).events
    >>> share = MovedShare(events.resolution)
    >>> [round(share(events.between(0, us)), 1) for us in (4_000, 40_000)]
    [0.0, 1.0]
    """

    def __init__(self, resolution: tuple[int, int]) -> None:
        columns, rows = (-(-side // (1 << _CELL_BITS)) for side in resolution)
        across, down = _tile_sides(columns), _tile_sides(rows)
        # Whole tiles, with a border of one cell.
        shape = 3, 2, _TILE * down.size + 2, _TILE * across.size + 2
        self._counts, self._shape = np.empty(shape, np.int32), np.array((rows, columns))
        self._values = np.zeros(shape, np.int16)
        self._energy = np.empty((down.size, across.size, 3), np.int64)
        self._match = np.empty((down.size, across.size, 2, 9), np.int64)
        self._sigma = np.sqrt(2.0 * np.outer(down, across)[..., None])
        self._n_values = 2.0 * np.outer(down, across)[..., None]  # of both polarities
        self._roots = np.rint(2.0 * _SCALE * np.sqrt(np.arange(_MAX_COUNT) + 0.375)).astype(
            np.int32
        )

    def __call__(self, events: Events) -> float:
        """Return the share, 0 to 1, of the structure that has moved; 0 if there is too little."""
        from evcrisp.kernels.pipeline.moved_share import center_tiles, count_cells, match_thirds

        events = events.contiguous()
        n = len(events)
        if not n:
            return 0.0
        # Of equal numbers of events: those of an edge come as fast as it moves, also where it starts.
        ends = np.array([*np.searchsorted(events.t, events.t[[n // 3, 2 * n // 3]]), n], np.int64)
        count_cells(events.x, events.y, events.p.view(np.uint8), ends, _CELL_BITS, self._counts)
        center_tiles(self._counts, self._shape, self._roots, self._values, self._energy)
        structure, sigma = self._structure(), self._sigma
        stands_out = structure > _MIN_STRUCTURE * sigma
        total = np.where(stands_out, structure, 0.0).sum(axis=(0, 1))
        is_enough = total > _MIN_TILES * _MIN_STRUCTURE * float(sigma.max())
        if not is_enough.any():
            return 0.0
        match_thirds(self._values, stands_out & is_enough, self._match)
        match = self._match / float(_SCALE**2)
        moved = stands_out & _has_moved(match, structure, sigma)
        share = np.where(moved, structure, 0.0).sum(axis=(0, 1)) / np.maximum(total, 1.0)
        # Of an image that turns back, one third moves and the other does not.
        return float(share[is_enough].max())

    def _structure(self) -> Floats:
        """Return what two thirds have beyond noise, shape (down, across, 2)."""
        beyond = np.maximum(self._energy / float(_SCALE**2) - self._n_values, 0.0)
        return np.sqrt(beyond[..., :2] * beyond[..., 1:])


def _has_moved(match: Floats, structure: Floats, sigma: Floats) -> Bools:
    best, still = match.max(axis=-1), match[..., 4]
    return (best - still > _MIN_GAIN * sigma) | (best < _GONE * structure)


def _tile_sides(n_cells: int) -> Floats:
    """Return the number of cells along each tile; the last tile may be smaller."""
    sides = np.full(-(-n_cells // _TILE), float(_TILE))
    sides[-1] = n_cells - _TILE * (sides.size - 1)
    return sides
