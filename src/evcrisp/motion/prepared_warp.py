"""Prepare the events of a window for warping them many times with compiled code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError
from evcrisp.core.event_columns import check_lengths
from evcrisp.core.types import Floats, Singles
from evcrisp.motion.protocol import MotionModel


@dataclass(frozen=True, slots=True, eq=False)
class PreparedWarp:
    """Warp of fixed events as a function of theta alone."""

    model: MotionModel
    x: Floats  # (n,) as `MotionModel.kernel_points` gives it
    y: Floats
    dt: Floats  # (n,) s
    constants: tuple[Floats, ...]
    warp_kernel: Callable[..., None]
    pull_back_kernel: Callable[..., None]

    def __len__(self) -> int:
        return self.x.size

    def warp(self, theta: ArrayLike) -> tuple[Floats, Floats]:
        """Return the positions at the reference time, px; equal to ``model.warp``."""
        out = np.empty(self.x.size), np.empty(self.x.size)
        self.fill(theta, *out)
        return out

    def fill(self, theta: ArrayLike, out_x: Singles | Floats, out_y: Singles | Floats) -> None:
        """Write these positions into two arrays, shape (n,), in single or double precision."""
        if not self.x.size == out_x.size == out_y.size:
            check_lengths(x=self.x, out_x=out_x, out_y=out_y)
        parameters = self._kernel_parameters(theta)
        self.warp_kernel(parameters, self.x, self.y, self.dt, *self.constants, out_x, out_y)

    def pull_back(self, theta: ArrayLike, slope_x: Floats, slope_y: Floats) -> Floats:
        """Return the sum over events of ``J_k^T (slope_x[k], slope_y[k])``, shape (m,)."""
        if not self.x.size == slope_x.size == slope_y.size:
            check_lengths(x=self.x, slope_x=slope_x, slope_y=slope_y)
        parameters = self._kernel_parameters(theta)
        out = np.zeros(parameters.size)
        slopes = slope_x, slope_y
        self.pull_back_kernel(parameters, self.x, self.y, self.dt, *self.constants, *slopes, out)
        return out[self.model.n_fixed : out.size - self.model.n_fixed_last]

    def subset(self, key: Any) -> "PreparedWarp":
        """Return the warp of some of the events."""
        from evcrisp.kernels.search.array_ops import select

        columns = self.x, self.y, self.dt
        if isinstance(key, np.ndarray) and key.dtype == np.bool_ and key.shape == self.x.shape:
            n = int(np.count_nonzero(key))
            out = tuple(np.empty(n + 1) for _ in columns)
            select(*columns, key, *out)
            chosen = [column[:n] for column in out]
        else:
            chosen = [np.ascontiguousarray(column[key]) for column in columns]
        return self.of(*chosen)

    def of(self, x: Floats, y: Floats, dt: Floats) -> "PreparedWarp":
        """Return the warp of other events, given as kernel points."""
        # `replace` takes five times as long, which shows in the time of a window.
        kernels = self.warp_kernel, self.pull_back_kernel
        return PreparedWarp(self.model, x, y, dt, self.constants, *kernels)

    def _kernel_parameters(self, theta: ArrayLike) -> Floats:
        values = np.array(theta, np.float64)
        names = self.model.param_names
        if values.shape != (len(names),):
            raise ConfigError(
                f"of motion {self.model.name!r} must be {len(names)} numbers ({', '.join(names)}); "
                f"got shape {values.shape}",
                parameter="theta",
            )
        n_first, n_last = self.model.n_fixed, self.model.n_fixed_last
        if n_first or n_last:
            return np.concatenate((np.zeros(n_first), values, np.zeros(n_last)))
        return values


def prepare(
    model: MotionModel, x: Floats, y: Floats, dt: Floats, resolution: tuple[int, int] | None = None
) -> PreparedWarp:
    """Convert events once for the kernels of a motion model.

    Parameters
    ----------
    model : MotionModel
        How the image moves.
    x, y, dt : ndarray, shape (n,), float64
        Pixels of the events, px, and time since the reference time, s.
    resolution : (int, int), optional, px
        ``(width, height)`` of the sensor; the table of a distorted lens then covers all of it.
    """
    check_lengths(x=x, y=y, dt=dt)
    points = (*model.kernel_points(x, y, resolution), dt)
    columns = (np.ascontiguousarray(column, np.float64) for column in points)
    return PreparedWarp(model, *columns, model.kernel_constants(), *model.kernels())
