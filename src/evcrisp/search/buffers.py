"""Arrays that are used again from evaluation to evaluation."""

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats


class Workspace:
    """Scratch arrays by name, kept for the next call; every thread has its own.

    A new array of a megabyte costs more than a blur of it, because its memory is fetched from
    the system page by page.
    """

    __slots__ = ("_local",)

    def __init__(self) -> None:
        self._local = threading.local()

    def __reduce__(self) -> tuple[type["Workspace"], tuple[()]]:
        """Copy and pickle none of the arrays."""
        return Workspace, ()

    def array(self, name: str, dtype: type, *shape: int) -> NDArray[Any]:
        """Return the array of that name and kind in any shape; what is in it is arbitrary."""
        try:
            views: dict[tuple[str, type], NDArray[Any]] = self._local.views
        except AttributeError:
            views = self._local.views = {}
            self._local.rows = {}
        view = views.get((name, dtype))
        # Windows of as many events as the one before are common.
        if view is None or view.shape != shape:
            view = views[name, dtype] = self._row(name, dtype, math.prod(shape)).reshape(shape)
        return view

    def _row(self, name: str, dtype: type, size: int) -> NDArray[Any]:
        rows: dict[tuple[str, type], NDArray[Any]] = self._local.rows
        row = rows.get((name, dtype))
        if row is None or row.size < size:
            row = rows[name, dtype] = np.empty(size, dtype)
        return row[:size]

    def floats(self, name: str, *shape: int) -> Floats:
        """Return one of float64."""
        return self.array(name, np.float64, *shape)
