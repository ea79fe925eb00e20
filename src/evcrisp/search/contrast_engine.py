"""Contrast map as a function of the motion, and its adjoint for gradients.

`ContrastEngine` warps the events, accumulates them on a map, and applies the adjoint of both
steps, for any `ContrastMap`. The search has maps of its own; see `spline_engine`.
"""

import math
import threading
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.core.types import Floats
from evcrisp.motion import PreparedWarp


class MapBuffers(threading.local):
    """Arrays of one evaluation of a map, reused, as new memory is slow; one set per thread."""

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


@dataclass(frozen=True, slots=True, eq=False)
class ContrastEngine:
    """Contrast map of prepared events at any ``theta``, in buffers that every call overwrites."""

    warp: PreparedWarp
    target: "BlurredMap"
    buffers: MapBuffers

    def build(self, theta: Floats) -> Floats:
        """Return the contrast map at ``theta``, shape (h, w)."""
        buffers = self.buffers
        buffers.fit(self.target.shape, len(self.warp))
        self.warp.fill(theta, buffers.x, buffers.y)
        self.target.accumulate(buffers)
        return buffers.image

    def pull_back(self, theta: Floats, gradient: Floats) -> Floats:
        """Return d value / d theta, shape (m,), times the scale of the map.

        Call it after :meth:`build` with the same ``theta``. ``gradient`` is d value / d map, shape
        (h, w); it is overwritten, and may be the map itself.
        """
        self.target.slopes(gradient, self.buffers)
        return self.warp.pull_back(theta, self.buffers.slope_x, self.buffers.slope_y)


@dataclass(frozen=True, slots=True, eq=False)
class BlurredMap:
    """Map made by a `ContrastMap`, with a weight for each event."""

    contrast: ContrastMap
    shape: tuple[int, int]
    weight: Floats  # (n,)
    is_weighted: bool  # whether a weight differs from 1

    @classmethod
    def of(cls, contrast: ContrastMap, resolution: tuple[int, int], weight: Floats) -> "BlurredMap":
        """Return the map of a sensor."""
        return cls(contrast, contrast.shape(resolution), weight, not bool((weight == 1.0).all()))

    def accumulate(self, buffers: MapBuffers) -> None:
        """Fill ``image``; ``x, y`` become px of the map."""
        x, y, image = buffers.x, buffers.y, buffers.image
        self.contrast.to_map(x, y, out=(x, y))
        image.fill(0.0)
        self.contrast.accumulate(x, y, self.weight, image)
        self.contrast.blur(image, out=image)

    def slopes(self, gradient: Floats, buffers: MapBuffers) -> None:
        """Fill the slopes; the blur is its own adjoint."""
        slope_x, slope_y = buffers.slope_x, buffers.slope_y
        self.contrast.blur(gradient, out=gradient)
        self.contrast.slopes(gradient, buffers.x, buffers.y, slope_x, slope_y)
        if self.is_weighted:
            slope_x *= self.weight
            slope_y *= self.weight
