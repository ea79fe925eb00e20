"""Pinhole camera with lens distortion: from pixels to rays and back."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.lens import TOLERANCE, distort_visible_rays, undistort_rays
from evcrisp.core.types import Floats
from evcrisp.core.validation import as_numbers, as_resolution, check_number

_LOG = logging.getLogger(__name__)

_MAX_FILE_CHARACTERS = 4096

#: Distance of the principal point from the middle of the sensor, as a share of its size, that warns.
#: The Event Camera Dataset has 0.12; a calibration at half the resolution has 0.25.
_MAX_OFF_CENTER = 0.2


@dataclass(frozen=True, slots=True)
class Camera:
    """Pinhole camera with radial and tangential ("plumb bob") distortion.

    Axes are x right, y down, z forward; pixel centers lie at integers. The *ideal* pixel of a ray
    is the pixel of the same camera without distortion.

    Parameters
    ----------
    fx, fy : float, px
        Focal lengths, greater than 0.
    cx, cy : float, px
        Principal point.
    distortion : sequence of 5 floats
        ``(k1, k2, p1, p2, k3)`` in the order of OpenCV; all zero for an ideal lens.
    is_cropped : bool
        Whether pixels are those of a region of the sensor, so that the principal point may lie far
        from its middle; see :meth:`cropped`.

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
    is_cropped: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for name, low in (("fx", 0.0), ("fy", 0.0), ("cx", -math.inf), ("cy", -math.inf)):
            (value,) = as_numbers(name, getattr(self, name), 1)
            check_number(name, value, low, open_low=True)
            object.__setattr__(self, name, value)
        wanted = "five numbers (k1, k2, p1, p2, k3), 0 for absent terms"
        values = as_numbers("distortion", self.distortion, 5, wanted)
        object.__setattr__(self, "distortion", values)

    @classmethod
    def from_file(cls, path: str | Path) -> "Camera":
        """Read ``fx fy cx cy`` and optionally ``k1 k2 p1 p2 k3`` from a text file.

        This is the ``calib.txt`` of the Event Camera Dataset. Comments after ``#`` and lines after
        the first nine numbers are ignored.
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
            raise ConfigError(f"{wanted}; got a file that is not text.") from error
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
        """Return a camera without distortion and with a horizontal field of view.

        >>> round(Camera.ideal((200, 100), fov_deg=90.0).fx, 6)
        100.0
        """
        width, height = as_resolution(resolution)
        check_number("fov_deg", fov_deg, 1, 170)
        focal = 0.5 * width / math.tan(math.radians(fov_deg) / 2)
        return cls(focal, focal, 0.5 * (width - 1), 0.5 * (height - 1))

    def cropped(self, roi: Sequence[int]) -> "Camera":
        """Return the camera of a region ``(x, y, width, height)`` whose corner becomes (0, 0).

        >>> Camera(fx=200.0, fy=200.0, cx=119.5, cy=89.5).cropped((100, 50, 64, 48)).matrix[:2, 2]
        array([19.5, 39.5])
        """
        left, top = as_numbers("roi", roi, 4, "(x, y, width, height)")[:2]
        return replace(self, cx=self.cx - left, cy=self.cy - top, is_cropped=True)

    @property
    def matrix(self) -> Floats:
        """Matrix from rays to ideal pixels, shape (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def is_distorted(self) -> bool:
        """Whether any distortion coefficient is not zero."""
        return any(self.distortion)

    def mismatch_warning(self, resolution: Sequence[int]) -> str | None:
        """Return a warning if this may be the calibration of another sensor, else None.

        >>> camera = Camera(fx=200.0, fy=200.0, cx=119.5, cy=89.5)
        >>> camera.mismatch_warning((240, 180)) is None
        True
        >>> print(camera.mismatch_warning((640, 480)))
        The principal point (119.5, 89.5) px is far from (319.5, 239.5), the middle of the sensor of 640x480 px. Is it the calibration of this sensor, at this resolution?
        """
        width, height = as_resolution(resolution)
        x, y = 0.5 * (width - 1), 0.5 * (height - 1)
        if self.is_cropped:
            return None
        if max(abs(self.cx - x) / width, abs(self.cy - y) / height) <= _MAX_OFF_CENTER:
            return None
        return (
            f"The principal point ({self.cx:.1f}, {self.cy:.1f}) px is far from ({x:.1f}, {y:.1f}), "
            f"the middle of the sensor of {width}x{height} px. Is it the calibration of this sensor, "
            "at this resolution?"
        )

    def distort(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Return the pixels of ideal pixels, as new arrays of one shape.

        NaN beyond the fold radius, where the distortion would fold the ray back into the image.
        """
        x, y = _pair(x, y)
        if not self.is_distorted:
            return x, y
        xn, yn = distort_visible_rays(
            self.distortion, (x - self.cx) / self.fx, (y - self.cy) / self.fy
        )
        return self.fx * xn + self.cx, self.fy * yn + self.cy

    def undistort(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Return the ideal pixels of pixels, as new arrays of one shape.

        Iterative for a distorted lens: for events, look up :meth:`ideal_pixels` instead. A
        distortion that folds the image has an inverse within the fold radius.

        Raises
        ------
        ConfigError
            If the distortion has no inverse at one of the points.
        """
        x, y = _pair(x, y)
        if not self.is_distorted:
            return x, y
        slopes = (x - self.cx) / self.fx, (y - self.cy) / self.fy
        xn, yn, error = undistort_rays(self.distortion, *slopes)
        if np.any(error > TOLERANCE):
            worst = np.unravel_index(np.argmax(error), x.shape)
            raise ConfigError(
                f"`distortion` {self.distortion} has no inverse at pixel ({x[worst]}, {y[worst]}). "
                "Check the calibration, and that it belongs to this resolution."
            )
        return self.fx * xn + self.cx, self.fy * yn + self.cy

    def ideal_pixels(self, resolution: Sequence[int]) -> Floats:
        """Return the ideal pixel of every pixel, shape (h, w, 2), px."""
        width, height = as_resolution(resolution)
        y, x = np.mgrid[0:height, 0:width].astype(np.float64)
        # Fail fast: a lens without an inverse has none at the corners.
        self.undistort(*np.meshgrid((0.0, width - 1.0), (0.0, height - 1.0)))
        return np.stack(self.undistort(x, y), axis=-1)

    def rays(self, resolution: Sequence[int]) -> Floats:
        """Return the ray ``(X/Z, Y/Z)`` of every pixel, shape (h, w, 2)."""
        return (self.ideal_pixels(resolution) - (self.cx, self.cy)) / (self.fx, self.fy)


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return both arrays, broadcast to one shape and copied."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    try:
        x, y = np.broadcast_arrays(x, y)
    except ValueError:
        raise EventDataError(
            f"`x` and `y` must have shapes that broadcast; got {x.shape} and {y.shape}."
        ) from None
    return x.copy(), y.copy()


@lru_cache(maxsize=64)
def warn_of_mismatch(camera: Camera, resolution: tuple[int, int]) -> None:
    """Log a warning if a camera may belong to another sensor; once per camera and sensor."""
    warning = camera.mismatch_warning(resolution)
    if warning is not None:
        _LOG.warning("%s", warning)
