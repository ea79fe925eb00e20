"""A pinhole camera with lens distortion: from pixels to rays and back."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.lens import TOLERANCE, bend_seen, unbend
from evcrisp.core.types import Floats

_LOG = logging.getLogger(__name__)

_MAX_FILE_CHARACTERS = 4096

#: How far from the middle of the sensor, as a share of its size, a principal point may lie without a
#: doubt. That of the Event Camera Dataset is at 0.12; one for half the resolution is at 0.25.
_MAX_OFF_CENTER = 0.2


@dataclass(frozen=True, slots=True)
class Camera:
    """Pinhole camera with radial and tangential ("plumb bob") distortion.

    Axes are x right, y down, z forward; pixel centers lie at integers. An *ideal* pixel is where
    the same camera without distortion would see the ray.

    Parameters
    ----------
    fx, fy : float, px
        Focal lengths, greater than 0.
    cx, cy : float, px
        Principal point.
    distortion : sequence of 5 floats
        ``(k1, k2, p1, p2, k3)`` in the order of OpenCV; all zero for an ideal lens.

    Raises
    ------
    ConfigError
        If a value is not finite, a focal length is not positive, or a count is wrong.

    Examples
    --------
    >>> camera = Camera(fx=200.0, fy=200.0, cx=119.5, cy=89.5)
    >>> [float(value) for value in camera.undistort(10.0, 20.0)]
    [10.0, 20.0]
    """

    fx: float
    fy: float
    cx: float
    cy: float
    distortion: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("fx", "fy", "cx", "cy"):
            value = float(getattr(self, name))
            if not math.isfinite(value) or (name in ("fx", "fy") and value <= 0):
                wanted = "a positive number" if name in ("fx", "fy") else "a number"
                raise ConfigError(f"`{name}` must be {wanted} of px; got {value}.")
            object.__setattr__(self, name, value)
        try:
            values = tuple(float(value) for value in self.distortion)
        except (TypeError, ValueError):
            values = ()
        if len(values) != 5 or not all(math.isfinite(value) for value in values):
            raise ConfigError(
                "`distortion` must be five numbers (k1, k2, p1, p2, k3), 0 for those that the lens "
                f"does not have; got {self.distortion!r}."
            )
        object.__setattr__(self, "distortion", values)

    @classmethod
    def from_file(cls, path: str | Path) -> "Camera":
        """Read ``fx fy cx cy`` and, where given, ``k1 k2 p1 p2 k3`` from a text file.

        This is the ``calib.txt`` of the Event Camera Dataset; what stands behind a ``#``, and lines
        that follow the first nine numbers, are not read.
        """
        path = Path(path)
        wanted = f"{path}: a calibration must be 4 or 9 numbers, fx fy cx cy k1 k2 p1 p2 k3"
        values: list[float] = []
        try:
            with path.open(encoding="utf-8") as file:
                lines = file.read(_MAX_FILE_CHARACTERS).splitlines()
            for line in lines:
                if len(values) < 9:
                    values += [float(word) for word in line.partition("#")[0].split()]
        except UnicodeDecodeError as error:
            raise ConfigError(f"{wanted}; this is no text.") from error
        except ValueError as error:
            raise ConfigError(f"{wanted}; {error}.") from error
        if len(values) not in (4, 9):
            raise ConfigError(f"{wanted}; got {len(values)}.")
        fx, fy, cx, cy, k1, k2, p1, p2, k3 = (*values, 0.0, 0.0, 0.0, 0.0, 0.0)[:9]
        try:
            return cls(fx, fy, cx, cy, (k1, k2, p1, p2, k3))
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from error

    @classmethod
    def ideal(cls, resolution: Sequence[int], fov_deg: float = 60.0) -> "Camera":
        """Return a camera without distortion that sees ``fov_deg`` from left to right.

        Examples
        --------
        >>> round(Camera.ideal((200, 100), fov_deg=90.0).fx, 6)
        100.0
        """
        width, height = resolution
        if not 1.0 <= fov_deg <= 170.0:
            raise ConfigError(f"`fov_deg` must lie in 1..170 degrees; got {fov_deg}.")
        focal = 0.5 * width / math.tan(math.radians(fov_deg) / 2)
        return cls(focal, focal, 0.5 * (width - 1), 0.5 * (height - 1))

    @property
    def matrix(self) -> Floats:
        """The 3 x 3 matrix from rays to ideal pixels."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def is_distorted(self) -> bool:
        """Whether the lens bends rays at all."""
        return any(self.distortion)

    def doubt(self, resolution: Sequence[int]) -> str | None:
        """Say why this may be the calibration of another sensor; None if it looks right.

        Examples
        --------
        >>> camera = Camera(fx=200.0, fy=200.0, cx=119.5, cy=89.5)
        >>> camera.doubt((240, 180)) is None
        True
        >>> print(camera.doubt((640, 480)))
        The principal point (119.5, 89.5) px is far from (319.5, 239.5), the middle of the sensor of 640x480 px. Is it the calibration of this sensor, at this resolution?
        """
        width, height = resolution
        x, y = 0.5 * (width - 1), 0.5 * (height - 1)
        if max(abs(self.cx - x) / width, abs(self.cy - y) / height) <= _MAX_OFF_CENTER:
            return None
        return (
            f"The principal point ({self.cx:.1f}, {self.cy:.1f}) px is far from ({x:.1f}, {y:.1f}), "
            f"the middle of the sensor of {width}x{height} px. Is it the calibration of this sensor, "
            "at this resolution?"
        )

    def distort(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Return the pixel that sees the ray of an ideal pixel, as new arrays of one shape.

        NaN for a ray so far out that the distortion would fold it back into the image.
        """
        x, y = _pair(x, y)
        if not self.is_distorted:
            return x, y
        xn, yn = bend_seen(self.distortion, (x - self.cx) / self.fx, (y - self.cy) / self.fy)
        return self.fx * xn + self.cx, self.fy * yn + self.cy

    def undistort(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Return the ideal pixel of the ray that a pixel sees, as new arrays of one shape.

        Iterative where the lens is distorted: for events use :meth:`ideal_pixels` once and look
        up, instead of calling this per event. A distortion that folds the image back on itself has
        an inverse within the fold.

        Raises
        ------
        ConfigError
            If the distortion has no inverse at one of the points.
        """
        x, y = _pair(x, y)
        if not self.is_distorted:
            return x, y
        slopes = (x - self.cx) / self.fx, (y - self.cy) / self.fy
        xn, yn, missing = unbend(self.distortion, *slopes)
        if np.any(missing > TOLERANCE):
            worst = np.unravel_index(np.argmax(missing), x.shape)
            raise ConfigError(
                f"`distortion` {self.distortion} has no inverse at pixel ({x[worst]}, {y[worst]}). "
                "Check the calibration, and that it belongs to this resolution."
            )
        return self.fx * xn + self.cx, self.fy * yn + self.cy

    def ideal_pixels(self, resolution: Sequence[int]) -> Floats:
        """Return the ideal pixel of every pixel, shape (h, w, 2), px."""
        width, height = resolution
        y, x = np.mgrid[0:height, 0:width].astype(np.float64)
        # A lens without an inverse lacks it in a corner first, where that is found at once.
        self.undistort(*np.meshgrid((0.0, width - 1.0), (0.0, height - 1.0)))
        return np.stack(self.undistort(x, y), axis=-1)

    def rays(self, resolution: Sequence[int]) -> Floats:
        """Return the ray of every pixel as its slopes ``(X/Z, Y/Z)``, shape (h, w, 2)."""
        return (self.ideal_pixels(resolution) - (self.cx, self.cy)) / (self.fx, self.fy)


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return new arrays of one shape."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    try:
        x, y = np.broadcast_arrays(x, y)
    except ValueError:
        raise EventDataError(
            f"`x` and `y` must be of one shape, or one of them a number; got {x.shape} and {y.shape}."
        ) from None
    return x.copy(), y.copy()


@lru_cache(maxsize=64)
def tell_doubt(camera: Camera, resolution: tuple[int, int]) -> None:
    """Warn if a camera looks like that of another sensor: once, not for every window."""
    doubt = camera.doubt(resolution)
    if doubt is not None:
        _LOG.warning("%s", doubt)
