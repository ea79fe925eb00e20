"""Protocol of motion models, and defaults for models that move pixels.

Conventions: x right, y down, z forward; ``theta`` is the physical velocity of the image (px/s) or
of the camera (rad/s); ``dt = t - t_ref`` in seconds. Warping moves an event to where its point of
the scene is at ``t_ref``, hence ``x' = x - vx * dt`` for a plain translation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.types import Floats
from evcrisp.motion.matrix import Points, apply_inverse


class MotionModel(Protocol):
    """Family of warps; a frozen dataclass that stores nothing during a call.

    ``theta`` has shape (m,), or (m, n) for one theta per event. Inherit :class:`PixelMotion`.
    """

    name: ClassVar[str]  # "translation"
    param_names: ClassVar[tuple[str, ...]]  # ("vx", "vy")
    param_units: ClassVar[tuple[str, ...]]  # ("px/s", "px/s")
    can_collapse: ClassVar[bool]  # whether a warp can gather all events on a few pixels
    uses_rays: ClassVar[bool]  # whether the model needs a camera
    n_fixed: ClassVar[int]  # leading parameters of the kernels that are 0
    n_fixed_last: ClassVar[int]  # trailing ones

    def __hash__(self) -> int:
        """Return the same number for equal models; results are cached by model."""
        ...

    @classmethod
    def for_sensor(cls, resolution: Sequence[int], camera: Camera | None = None) -> Self:
        """Return the model for a sensor; ``camera`` matters to the models that need rays."""
        ...

    def warp(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref``, px."""
        ...

    def inverse(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref + dt`` of points given at ``t_ref``, px."""
        ...

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp as a homography of (ideal) pixels, shape ``dt.shape + (3, 3)``."""
        ...

    def kernels(self) -> tuple[Callable[..., None], Callable[..., None]]:
        """Return the compiled functions ``warp`` and ``pull_back``; see ``kernels/motion``."""
        ...

    def kernel_points(self, x: Floats, y: Floats, resolution: tuple[int, int] | None) -> Points:
        """Return what the kernels take as position: pixels, or slopes of rays."""
        ...

    def kernel_constants(self) -> tuple[Floats, ...]:
        """Return the arrays that the kernels take after ``dt``, such as a center."""
        ...

    def without_distortion(self) -> Self:
        """Return the model for ideal pixels."""
        ...

    def uniform_velocity(self, theta: Floats) -> Floats | None:
        """Return the image velocity in px/s if it is the same everywhere, else None."""
        ...

    def angular_velocity(self, theta: ArrayLike) -> Floats | None:
        """Return the angular velocity of the camera, (3,) or (3, n), rad/s; None without rotation."""
        ...


def camera_of(model: MotionModel) -> Camera | None:
    """Return the camera of a model that uses rays; None for a model of pixels."""
    return getattr(model, "camera", None) if model.uses_rays else None


class PixelMotion:
    """Defaults of motion models that act on pixels."""

    __slots__ = ()

    name: ClassVar[str]
    kernel_name: ClassVar[str] = ""  # module of the kernels, if it is not `name`
    can_collapse: ClassVar[bool] = True
    uses_rays: ClassVar[bool] = False
    n_fixed: ClassVar[int] = 0
    n_fixed_last: ClassVar[int] = 0

    @classmethod
    def for_sensor(cls, resolution: Sequence[int], camera: Camera | None = None) -> Self:
        """Return the model; it is the same for every sensor."""
        return cls()

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp as a homography, shape ``dt.shape + (3, 3)``."""
        raise NotImplementedError

    def inverse(self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike) -> Points:
        """Return the positions at ``t_ref + dt`` of points given at ``t_ref``, px."""
        return apply_inverse(self.matrix(theta, dt), x, y)

    def kernels(self) -> tuple[Callable[..., None], Callable[..., None]]:
        """Return the compiled functions ``warp`` and ``pull_back``."""
        module = import_module(f"evcrisp.kernels.motion.{self.kernel_name or self.name}")
        return module.warp, module.pull_back

    def kernel_points(self, x: Floats, y: Floats, resolution: tuple[int, int] | None) -> Points:
        """Return the pixels as they are."""
        return x, y

    def kernel_constants(self) -> tuple[Floats, ...]:
        """Return no constants."""
        return ()

    def without_distortion(self) -> Self:
        """Return the model itself."""
        return self

    def uniform_velocity(self, theta: Floats) -> Floats | None:
        """Return None: points move differently."""
        return None

    def angular_velocity(self, theta: ArrayLike) -> Floats | None:
        """Return None: the camera does not turn."""
        return None


def center_of(resolution: Sequence[int]) -> tuple[float, float]:
    """Return the middle of a sensor, px; pixel centers are at integers."""
    width, height = resolution
    return 0.5 * (width - 1), 0.5 * (height - 1)


@dataclass(frozen=True, slots=True)
class CenteredMotion(PixelMotion):
    """Base of motion models with a center."""

    center: tuple[float, float]  # px

    @classmethod
    def for_sensor(cls, resolution: Sequence[int], camera: Camera | None = None) -> Self:
        """Return the model about the middle of a sensor."""
        return cls(center_of(resolution))

    def on_region(self, left: int, top: int) -> Self:
        """Return the model for pixels of a region whose corner is at ``(left, top)``, px."""
        return replace(self, center=(self.center[0] - left, self.center[1] - top))

    def kernel_constants(self) -> tuple[Floats, ...]:
        """Return the center."""
        return (np.array(self.center),)
