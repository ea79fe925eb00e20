"""Live area of a window, where noise samples are taken and exposure counts.

Noise samples beyond it would read nothing, and make all other noise look like signal.
"""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.live_area import STRAY_SHARE, Box

#: Larger areas are cut to multiples of this for noise samples, px: their number of sizes stays small.
_STEP_PX, _LEAST_PX = 8, 64


def live_area(
    x: NDArray[np.uint16], y: NDArray[np.uint16], resolution: tuple[int, int]
) -> tuple[Box, Box]:
    """Return the rectangle of all events, and that of all but a few strays.

    Empty pixels around the events do not change them.
    """
    from evcrisp.kernels.auto.live_area import count_lines

    columns, rows = np.zeros(resolution[0], np.int64), np.zeros(resolution[1], np.int64)
    count_lines(x, y, columns, rows)
    extent, live = (
        Box.of_counts(columns, rows, n_stray) for n_stray in (0, int(STRAY_SHARE * x.size))
    )
    return extent, live


def area_of_samples(live: Box) -> Box:
    """Return a box of at most 7 px less along each axis, with the same center.

    >>> area_of_samples(Box(40, 40, 346, 260))
    Box(left=41, top=42, width=344, height=256)
    """
    left, width = _cut(live.left, live.width)
    top, height = _cut(live.top, live.height)
    return Box(left, top, width, height)


def _cut(start: int, size: int) -> tuple[int, int]:
    """Shorten a side by an even number of pixels, so that its center stays."""
    less = size % _STEP_PX // 2 if size > _LEAST_PX else 0
    return start + less, size - 2 * less
