"""Arrays that are used again from evaluation to evaluation."""

import math
from typing import Any

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
        self._rows: dict[tuple[str, type], NDArray[Any]] = {}

    def array(self, name: str, dtype: type, *shape: int) -> NDArray[Any]:
        """Return the array of that name and kind in any shape; what is in it is arbitrary."""
        size = math.prod(shape)
        row = self._rows.get((name, dtype))
        if row is None or row.size < size:
            row = self._rows[name, dtype] = np.empty(size, dtype)
        return row[:size] if len(shape) == 1 else row[:size].reshape(shape)

    def floats(self, name: str, *shape: int) -> Floats:
        """Return one of float64."""
        return self.array(name, np.float64, *shape)
