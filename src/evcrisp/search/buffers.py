"""Arrays that are reused from evaluation to evaluation."""

import math
import threading
from typing import ClassVar

import numpy as np

from evcrisp.core.types import Floats


class MapBuffers(threading.local):
    """Arrays of one evaluation of a contrast map; every thread has its own.

    A new array of a megabyte costs more than a blur of it, because its memory is mapped page by
    page. Copies and pickles start empty.
    """

    maps: ClassVar[tuple[str, ...]] = ("image",)  # names of arrays of the shape of the map
    columns: ClassVar[tuple[str, ...]] = ("x", "y", "slope_x", "slope_y")  # one number per event

    image: Floats  # (h, w)
    x: Floats  # (n,) positions
    y: Floats
    slope_x: Floats  # (n,) derivatives by position
    slope_y: Floats

    def __init__(self) -> None:
        for name in self.maps + self.columns:
            setattr(self, name, np.empty((0, 0) if name in self.maps else 0))

    def __reduce__(self) -> tuple[type["MapBuffers"], tuple[()]]:
        return type(self), ()

    def fit(self, shape: tuple[int, int], n_events: int) -> None:
        """Resize all arrays; memory that suffices is kept, and its content is arbitrary."""
        if self.image.shape != shape:
            for name in self.maps:
                setattr(self, name, _resized(getattr(self, name), math.prod(shape)).reshape(shape))
        if self.x.size != n_events:
            for name in self.columns:
                setattr(self, name, _resized(getattr(self, name), n_events))


def _resized(array: Floats, size: int) -> Floats:
    """Return a view of ``size`` elements of the memory of an array, or new memory."""
    memory = array if array.base is None else array.base
    return memory.reshape(-1)[:size] if memory.size >= size else np.empty(size)
