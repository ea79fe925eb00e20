"""A camera that turns on the spot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.types import Floats
from evcrisp.motion.matrix import in_front, stacked
from evcrisp.motion.protocol import PixelMotion, Points


@dataclass(frozen=True, slots=True)
class Rotation(PixelMotion):
    """Angular velocity ``(wx, wy, wz)`` of the camera, comparable with a gyroscope as it is.

    A pixel's ray is turned by ``exp(+[omega]_x dt)`` and projected without distortion, so that
    ``theta = 0`` undistorts a distorted camera's pixels and moves nothing otherwise.

    Turning right (about y, which points down) moves the image to the left.

    >>> model = Rotation(Camera(fx=200.0, fy=200.0, cx=120.0, cy=90.0))
    >>> x, y = model.warp((0.0, 1.0, 0.0), 120.0, 90.0, 0.01)
    >>> round(float(x), 3), round(float(y), 3)
    (122.0, 90.0)
    """

    camera: Camera

    name: ClassVar[str] = "rotation"
    param_names: ClassVar[tuple[str, ...]] = ("wx", "wy", "wz")
    param_units: ClassVar[tuple[str, ...]] = ("rad/s", "rad/s", "rad/s")
    can_collapse: ClassVar[bool] = False
    uses_rays: ClassVar[bool] = True

    @classmethod
    def for_sensor(cls, resolution: Sequence[int], camera: Camera | None = None) -> Self:
        """Return the model for a camera; an ideal one of 60 degrees where none is given."""
        return cls(Camera.ideal(resolution) if camera is None else camera)

    def warp(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref`` as ideal pixels, px."""
        return self._turned(theta, *self.camera.undistort(x, y), dt)

    def inverse(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the pixels at ``t_ref + dt`` of ideal pixels given at ``t_ref``, px."""
        turned = self._turned(theta, x, y, -np.asarray(dt, np.float64))
        return self.camera.distort(*turned)

    def angular_velocity(self, theta: ArrayLike) -> Floats:
        """Return ``theta``."""
        return np.asarray(theta, np.float64)

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp of ideal pixels as a homography, shape ``dt.shape + (3, 3)``."""
        k = self.camera.matrix
        return k @ rotation_matrix(theta, dt) @ np.linalg.inv(k)

    def _turned(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        cam = self.camera
        wx, wy, wz = np.asarray(theta, np.float64)
        bx, by = (np.asarray(x) - cam.cx) / cam.fx, (np.asarray(y) - cam.cy) / cam.fy
        first, second = _rodrigues((wx, wy, wz), dt)
        # omega x B and omega x (omega x B) for the ray B = (bx, by, 1)
        ux, uy, uz = wy - wz * by, wz * bx - wx, wx * by - wy * bx
        depth = in_front(1.0 + first * uz + second * (wx * uy - wy * ux))
        return (
            cam.cx + cam.fx * (bx + first * ux + second * (wy * uz - wz * uy)) / depth,
            cam.cy + cam.fy * (by + first * uy + second * (wz * ux - wx * uz)) / depth,
        )

    def kernel_points(self, x: Floats, y: Floats, resolution: tuple[int, int] | None) -> Points:
        """Return the slopes of the rays."""
        camera = self.camera
        x, y = _undistorted(camera, x, y, resolution)
        return (x - camera.cx) / camera.fx, (y - camera.cy) / camera.fy

    def kernel_constants(self) -> tuple[Floats, ...]:
        """Return focal lengths and principal point."""
        camera = self.camera
        return (np.array([camera.fx, camera.fy, camera.cx, camera.cy]),)

    def on_region(self, left: int, top: int) -> Self:
        """Return the model for pixels of a region whose corner is at ``(left, top)``, px."""
        return replace(self, camera=self.camera.cropped((left, top, 1, 1)))

    def without_distortion(self) -> Self:
        """Return the same rotation for an ideal lens."""
        return replace(self, camera=self.camera.without_distortion())


def rotation_matrix(omega: ArrayLike, dt: ArrayLike) -> Floats:
    """Return ``exp([omega]_x dt)``, shape ``dt.shape + (3, 3)``.

    >>> np.round(rotation_matrix((0.0, 0.0, np.pi / 2), 1.0), 6) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    wx, wy, wz = np.asarray(omega, np.float64)
    first, second = _rodrigues((wx, wy, wz), dt)
    xx, yy, zz = (1.0 - second * (a * a + b * b) for a, b in ((wy, wz), (wx, wz), (wx, wy)))
    xy, xz, yz = second * wx * wy, second * wx * wz, second * wy * wz
    x, y, z = first * wx, first * wy, first * wz
    return stacked(((xx, xy - z, xz + y), (xy + z, yy, yz - x), (xz - y, yz + x, zz)))


def _rodrigues(omega: tuple[Floats, Floats, Floats], dt: ArrayLike) -> tuple[Floats, Floats]:
    """Return the factors of [omega]_x and of its square in the exponential; exact at zero too."""
    wx, wy, wz = omega
    dt = np.asarray(dt, np.float64)
    angle = np.sqrt(wx * wx + wy * wy + wz * wz) * dt
    half = np.sinc(angle / (2.0 * np.pi))
    return dt * np.sinc(angle / np.pi), 0.5 * dt * dt * half * half


def _undistorted(
    camera: Camera, x: Floats, y: Floats, resolution: tuple[int, int] | None
) -> Points:
    """Return ideal pixels; from a table for whole pixels, as those of events are."""
    if not camera.is_distorted or x.size == 0:
        return x, y
    column, row = x.astype(np.intp), y.astype(np.intp)
    if column.min() < 0 or row.min() < 0 or (column != x).any() or (row != y).any():
        return camera.undistort(x, y)
    width, height = int(column.max()) + 1, int(row.max()) + 1
    if resolution is not None and width <= resolution[0] and height <= resolution[1]:
        width, height = resolution
    table = _undistortion_table(camera, width, height)
    return table[row, column, 0], table[row, column, 1]


@lru_cache(maxsize=16)
def _undistortion_table(camera: Camera, width: int, height: int) -> Floats:
    """Return the ideal pixel of every pixel, shape (h, w, 2)."""
    return camera.ideal_pixels((width, height))
