"""Sum of squares of the map of a level, and its slope by the motion, with the kernels of a model.

Quadratic B-splines of weight 1 at ``x / scale + shift_x``, without blur. The pixels of an event are
located once for the map and for the slope.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evcrisp.core.types import Floats, Integers
from evcrisp.motion import PreparedWarp


@dataclass(frozen=True, slots=True, eq=False)
class SplineEngine:
    """A map of prepared events at any ``theta``, in buffers that every call overwrites."""

    warp: PreparedWarp
    gain: float  # 1 / scale
    shift: tuple[float, float]  # px of the map
    image: Floats  # (h, w) the map
    cell: Integers  # (n,) first pixel of each event
    columns: Floats  # (4, n) offsets within the middle pixel; positions, and then slopes

    @staticmethod
    def of(
        warp: PreparedWarp, shape: tuple[int, int], scale: int, shift: tuple[float, float]
    ) -> "SplineEngine":
        """Return the engine for a map of a shape; that of a translation is compiled as a whole."""
        from evcrisp.kernels.motion import translation

        is_translation = warp.warp_kernel is translation.warp
        kind = TranslationEngine if is_translation else SplineEngine
        cell, columns = np.empty(len(warp), np.int32), np.empty((4, len(warp)))
        return kind(warp, 1.0 / scale, shift, np.empty(shape), cell, columns)

    def squares(self, theta: Floats) -> float:
        """Return the sum of squares of the map."""
        from evcrisp.kernels.contrast import spline

        a, b, x, y = self.columns
        self.warp.fill(theta, x, y)
        spline.locate_and_accumulate(x, y, self.gain, *self.shift, self.cell, a, b, self.image)
        return spline.sum_of_squares(self.image)

    def squares_of(self, thetas: Sequence[Floats]) -> list[float]:
        """Return the sums of squares of several motions."""
        return [self.squares(theta) for theta in thetas]

    def squares_and_slope(self, theta: Floats) -> tuple[float, Floats]:
        """Return the sum of squares, and half of its derivative by ``theta`` times the scale, (m,)."""
        from evcrisp.kernels.contrast import spline

        total = self.squares(theta)
        a, b, *slopes = self.columns
        spline.slopes(self.cell, a, b, self.image, *slopes)
        return total, self.warp.pull_back(theta, *slopes)


@dataclass(frozen=True, slots=True, eq=False)
class TranslationEngine(SplineEngine):
    """The same numbers with fewer calls."""

    def squares_of(self, thetas: Sequence[Floats]) -> list[float]:
        """Return the sums of squares of several motions."""
        from evcrisp.kernels.search.translations import squares_of_translations

        warp, totals = self.warp, np.empty(len(thetas))
        squares_of_translations(
            np.array(thetas), warp.x, warp.y, warp.dt, self.gain, *self.shift, self.image.shape, totals
        )  # fmt: skip
        return totals.tolist()

    def squares_and_slope(self, theta: Floats) -> tuple[float, Floats]:
        """Return the sum of squares, and half of its derivative by ``theta`` times the scale, (2,)."""
        from evcrisp.kernels.search.translations import square_of_translation

        warp, slope = self.warp, np.empty(2)
        total = square_of_translation(
            theta, warp.x, warp.y, warp.dt, self.gain, *self.shift,
            self.cell, self.columns, self.image, slope,
        )  # fmt: skip
        return total, slope
