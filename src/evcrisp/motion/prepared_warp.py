"""A window's events prepared for being warped many times, with compiled code."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats, Singles
from evcrisp.core.validation import check_lengths
from evcrisp.motion.affine import Affine
from evcrisp.motion.homography import Homography
from evcrisp.motion.protocol import MotionModel
from evcrisp.motion.rotation import Rotation
from evcrisp.motion.similarity import Similarity, Zoom


@dataclass(frozen=True, slots=True, eq=False)
class PreparedWarp:
    """Warp of fixed events as a function of theta alone.

    ``extra`` holds the constants of the model: a center, a frame, or a camera.
    """

    model: MotionModel
    x: Floats  # (n,) px; for rotation the slopes of the rays
    y: Floats
    dt: Floats  # (n,) s
    extra: tuple[Floats, ...]
    warp_kernel: Callable[..., None]
    pull_kernel: Callable[..., None]

    def __len__(self) -> int:
        return self.x.size

    def warp(self, theta: ArrayLike) -> tuple[Floats, Floats]:
        """Return the positions at the reference time, px; equal to ``model.warp``."""
        out = np.empty(self.x.size), np.empty(self.x.size)
        self.fill(theta, *out)
        return out

    def fill(self, theta: ArrayLike, out_x: Singles | Floats, out_y: Singles | Floats) -> None:
        """Fill two arrays, shape (n,), with these positions, in single or double precision."""
        if not self.x.size == out_x.size == out_y.size:
            check_lengths(x=self.x, out_x=out_x, out_y=out_y)
        full = self._full(theta)
        self.warp_kernel(full, self.x, self.y, self.dt, *self.extra, out_x, out_y)

    def pull(self, theta: ArrayLike, slope_x: Floats, slope_y: Floats) -> Floats:
        """Return the sum over events of ``J_k^T (slope_x[k], slope_y[k])``, shape (m,)."""
        if not self.x.size == slope_x.size == slope_y.size:
            check_lengths(x=self.x, slope_x=slope_x, slope_y=slope_y)
        full = self._full(theta)
        out = np.zeros(full.size)
        self.pull_kernel(full, self.x, self.y, self.dt, *self.extra, slope_x, slope_y, out)
        return out[3:] if isinstance(self.model, Zoom) else out

    def subset(self, key: Any) -> "PreparedWarp":
        """Return the same for some of the events."""
        from evcrisp.kernels.search.subsample import choose

        columns = self.x, self.y, self.dt
        if isinstance(key, np.ndarray) and key.dtype == np.bool_ and key.shape == self.x.shape:
            n = int(np.count_nonzero(key))
            out = tuple(np.empty(n + 1) for _ in columns)
            choose(*columns, key, *out)
            chosen = [column[:n] for column in out]
        else:
            chosen = [np.ascontiguousarray(column[key]) for column in columns]
        return self.of(*chosen)

    def of(self, x: Floats, y: Floats, dt: Floats) -> "PreparedWarp":
        """Return the same for other events, as prepared as these."""
        return PreparedWarp(self.model, x, y, dt, self.extra, self.warp_kernel, self.pull_kernel)

    def _full(self, theta: ArrayLike) -> Floats:
        values = np.array(theta, np.float64)
        if values.shape != (len(self.model.param_names),):
            raise ConfigError(
                f"`theta` of motion {self.model.name!r} must be {len(self.model.param_names)} numbers "
                f"({', '.join(self.model.param_names)}); got shape {values.shape}."
            )
        # Zoom is a similarity that does not move and does not turn.
        return np.concatenate((np.zeros(3), values)) if isinstance(self.model, Zoom) else values


def prepare(
    model: MotionModel,
    x: Floats,
    y: Floats,
    dt: Floats,
    resolution: tuple[int, int] | None = None,
) -> PreparedWarp:
    """Convert events once for a model: rays for a rotation, pixels otherwise.

    Parameters
    ----------
    model : MotionModel
        How things move.
    x, y : ndarray, shape (n,), float64, px
        Pixels of the events.
    dt : ndarray, shape (n,), float64, s
        Time since the reference time.
    resolution : (int, int), optional, px
        ``(width, height)`` of the sensor; a distorted lens is then looked up once per sensor.
    """
    from evcrisp.kernels.motion import warp as kernels

    check_lengths(x=x, y=y, dt=dt)
    extra: tuple[Floats, ...] = ()
    name = model.name
    if isinstance(model, Rotation):
        camera = model.camera
        ideal_x, ideal_y = _ideal(camera, x, y, resolution)
        x, y = (ideal_x - camera.cx) / camera.fx, (ideal_y - camera.cy) / camera.fy
        extra = (np.array([camera.fx, camera.fy, camera.cx, camera.cy]),)
    elif isinstance(model, Homography):
        extra = (np.array([*model.center, model.scale]),)
    elif isinstance(model, (Similarity, Zoom, Affine)):
        extra = (np.array(model.center),)
        name = "similarity" if isinstance(model, Zoom) else name
    return PreparedWarp(
        model,
        np.ascontiguousarray(x, np.float64),
        np.ascontiguousarray(y, np.float64),
        np.ascontiguousarray(dt, np.float64),
        extra,
        getattr(kernels, f"warp_{name}"),
        getattr(kernels, f"pull_{name}"),
    )


def _ideal(
    camera: Camera, x: Floats, y: Floats, resolution: tuple[int, int] | None
) -> tuple[Floats, Floats]:
    """Return ideal pixels; from a table where the pixels are whole, as those of events are."""
    if not camera.is_distorted or x.size == 0:
        return x, y
    column, row = x.astype(np.intp), y.astype(np.intp)
    if column.min() < 0 or row.min() < 0 or (column != x).any() or (row != y).any():
        return camera.undistort(x, y)
    width, height = int(column.max()) + 1, int(row.max()) + 1
    if resolution is not None and width <= resolution[0] and height <= resolution[1]:
        width, height = resolution
    table = _ideal_table(camera, width, height)
    return table[row, column, 0], table[row, column, 1]


@lru_cache(maxsize=16)
def _ideal_table(camera: Camera, width: int, height: int) -> Floats:
    """Undistort every pixel once; shape (h, w, 2)."""
    return camera.ideal_pixels((width, height))
