"""Lens distortion of rays; the twin of `core.lens` and `core.calibration.fisheye`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from evcrisp.core.calibration.fields import EQUIDISTANT
from evcrisp.core.calibration.fisheye import fold_angle
from evcrisp.core.lens import ray_limit
from evcrisp.tensors.lazy import Tensor, torch

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera

#: Distorts slopes of rays along x and y; NaN beyond the image.
Distort = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def distortion_of(camera: "Camera | None") -> Distort | None:
    """Return the distortion of a camera; None without one."""
    if camera is None or not camera.is_distorted:
        return None
    if camera.lens == EQUIDISTANT:
        return lambda x, y: _fisheye(camera.distortion, x, y)
    return lambda x, y: _radial_tangential(camera.distortion, x, y)


def _radial_tangential(
    distortion: tuple[float, ...], x: Tensor, y: Tensor
) -> tuple[Tensor, Tensor]:
    k1, k2, p1, p2, k3 = distortion
    visible = torch.where(torch.hypot(x, y) <= ray_limit(distortion), 1.0, torch.nan)
    x, y = x * visible, y * visible
    r2 = x * x + y * y
    radial, cross = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3)), 2.0 * x * y
    return (
        x * radial + p1 * cross + p2 * (r2 + 2.0 * x * x),
        y * radial + p2 * cross + p1 * (r2 + 2.0 * y * y),
    )


def _fisheye(k: tuple[float, ...], x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    k1, k2, k3, k4 = k
    slope = torch.hypot(x, y)
    angle = torch.atan(slope)
    s = angle * angle
    radius = angle * (1.0 + s * (k1 + s * (k2 + s * (k3 + s * k4))))
    radius = torch.where(angle <= fold_angle(k), radius, torch.nan)
    scale = torch.where(slope > 0.0, radius / slope, 1.0)
    return x * scale, y * scale
