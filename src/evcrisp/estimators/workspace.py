"""Arrays that are used again from evaluation to evaluation."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Workspace:
    """Scratch arrays by name, kept for the next call.

    A new array of a megabyte costs more than a blur of it, because its memory is fetched from
    the system page by page. Not for two threads at once.
    """

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[str, Floats] = {}

    def floats(self, name: str, *shape: int) -> Floats:
        """Return the array of that name in any shape; what is in it is arbitrary."""
        size = math.prod(shape)
        row = self._rows.get(name)
        if row is None or row.size < size:
            row = self._rows[name] = np.empty(size)
        return row[:size].reshape(shape)
