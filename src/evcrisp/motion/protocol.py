"""What a motion model must offer.

Conventions: x right, y down, z forward; ``theta`` is the physical velocity of the image (px/s) or
of the camera (rad/s); ``dt = t - t_ref`` in seconds. Warping moves an event to where its point of
the scene is at ``t_ref``, hence ``x' = x - vx * dt`` for a plain translation.
"""

from collections.abc import Sequence
from typing import ClassVar, Protocol, Self

from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.types import Floats


class MotionModel(Protocol):
    """One family of warps; a frozen dataclass that stores nothing during a call.

    ``theta`` has shape (m,), or (m, n) for one theta per event.
    """

    name: ClassVar[str]  # "translation"
    param_names: ClassVar[tuple[str, ...]]  # ("vx", "vy")
    param_units: ClassVar[tuple[str, ...]]  # ("px/s", "px/s")

    def __hash__(self) -> int:
        """Models are values: what is known about one holds for its equals."""
        ...

    @classmethod
    def for_sensor(cls, resolution: Sequence[int], camera: Camera | None = None) -> Self:
        """Return the model for a sensor; ``camera`` matters to the models that need rays."""
        ...

    def warp(
        self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike
    ) -> tuple[Floats, Floats]:
        """Return the positions at ``t_ref``, px."""
        ...

    def inverse(
        self, theta: ArrayLike, x: ArrayLike, y: ArrayLike, dt: ArrayLike
    ) -> tuple[Floats, Floats]:
        """Return the positions at ``t_ref + dt`` of points given at ``t_ref``, px."""
        ...

    def matrix(self, theta: ArrayLike, dt: ArrayLike) -> Floats:
        """Return the warp as a homography, shape ``dt.shape + (3, 3)``.

        It acts on the ideal pixels of a distorted camera, and on pixels otherwise.
        """
        ...


def center_of(resolution: Sequence[int]) -> tuple[float, float]:
    """Return the middle of a sensor, px; pixel centers are at integers."""
    width, height = resolution
    return 0.5 * (width - 1), 0.5 * (height - 1)
