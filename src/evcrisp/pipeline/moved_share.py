"""Tell how much of the image has moved within the first part of a stream, from its events alone.

::

    thirds of the events       |  first  |  second  |  third  |
    every tile of 32 px        does the next third fit better one cell (4 px) further than in place?

Noise of a constant rate fits nowhere, and so does not count. A tile whose structure is gone has moved
too: farther than a cell.
"""

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Floats

#: Side of a cell, px, a power of two, and of a tile, cells (that of the kernels). When the image has moved by a cell
#: from third to third it has moved by 6 to 8 px in the window.
_CELL_BITS, _TILE = 2, 8

#: Counts enter as ``2 * sqrt(n + 3/8)``, whose variance is 1 for noise of any rate; unit, and largest count.
_UNIT, _MAX_COUNT = 1.0 / 16.0, 4095

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
        from evcrisp.kernels.pipeline.moved_share import Buffers, Limits

        columns, rows = (-(-side // (1 << _CELL_BITS)) for side in resolution)
        across, down = _tile_sides(columns), _tile_sides(rows)
        # Whole tiles, with a border of one cell.
        shape = 3, 2, _TILE * down.size + 2, _TILE * across.size + 2
        tiles = down.size, across.size
        self._shape = np.array((rows, columns))
        self._buffers = Buffers(
            np.empty(shape, np.int32), np.zeros(shape, np.int16), np.empty((*tiles, 3), np.int64),
            np.empty((*tiles, 2, 9), np.int64), np.empty((*tiles, 2)), np.empty((*tiles, 2), np.bool_),
        )  # fmt: skip
        self._n_values = 2.0 * np.outer(down, across)  # of both polarities
        self._limits = Limits(_MIN_STRUCTURE, float(_MIN_TILES), _MIN_GAIN, _GONE)

    def __call__(self, events: Events, first: int = 0, last: int | None = None) -> float:
        """Return the share, 0 to 1, of the structure that has moved; 0 if there is too little.

        Of the events from number ``first`` to before ``last``.
        """
        from evcrisp.kernels.pipeline.moved_share import share_of_moved

        events = events.contiguous()
        x, y, p, t = (column[first:last] for column in (events.x, events.y, events.p, events.t))
        if not x.size:
            return 0.0
        return share_of_moved(
            x, y, p.view(np.uint8), t, _CELL_BITS, self._shape, _UNIT, _MAX_COUNT, self._n_values,
            self._limits, self._buffers,
        )  # fmt: skip


def _tile_sides(n_cells: int) -> Floats:
    """Return the number of cells along each tile; the last tile may be smaller."""
    sides = np.full(-(-n_cells // _TILE), float(_TILE))
    sides[-1] = n_cells - _TILE * (sides.size - 1)
    return sides
