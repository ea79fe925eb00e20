"""Camera with lens distortion: from pixels to rays and back."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.calibration.calibration_file import read_calibration
from evcrisp.core.calibration.fields import EQUIDISTANT, PLUMB_BOB, Intrinsics
from evcrisp.core.calibration.fisheye import distort_fisheye, undistort_fisheye
from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.lens import TOLERANCE, distort_visible_rays, undistort_rays
from evcrisp.core.types import Floats
from evcrisp.core.validation import as_numbers, as_resolution, check_choice, check_number

_LOG = logging.getLogger(__name__)

#: Coefficients of each lens model.
_COEFFICIENTS = {
    PLUMB_BOB: (5, "five numbers (k1, k2, p1, p2, k3), 0 for absent terms"),
    EQUIDISTANT: (4, "four numbers (k1, k2, k3, k4), 0 for absent terms"),
}

#: Distance of the principal point from the middle of the sensor, as a share of its size, that warns.
#: The Event Camera Dataset has 0.12; a calibration at half the resolution has 0.25.
_MAX_OFF_CENTER = 0.2


@dataclass(frozen=True, slots=True, repr=False)
class Camera:
    """Camera with a pinhole and a distorting lens.

    Axes are x right, y down, z forward; pixel centers lie at integers. The *ideal* pixel of a ray
    is the pixel of the same camera without distortion.

    Parameters
    ----------
    fx, fy : float, px
        Focal lengths, greater than 0.
    cx, cy : float, px
        Principal point.
    distortion : sequence of floats
        In the order of OpenCV: ``(k1, k2, p1, p2, k3)`` of a lens "plumb_bob", all zero for an ideal
        lens; ``(k1, k2, k3, k4)`` of a lens "equidistant".
    lens : {"plumb_bob", "equidistant"}
        Radial and tangential distortion; or a fisheye lens, whose image radius is about proportional
        to the angle (Kannala and Brandt).
    resolution : (int, int), px, optional
        Sensor ``(width, height)`` for which the calibration holds, if it is known.
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
    >>> camera
    Camera(fx=200, fy=200, cx=119.5, cy=89.5)
    """

    fx: float
    fy: float
    cx: float
    cy: float
    distortion: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0)
    lens: str = PLUMB_BOB
    resolution: tuple[int, int] | None = None
    is_cropped: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for name, low in (("fx", 0.0), ("fy", 0.0), ("cx", -math.inf), ("cy", -math.inf)):
            (value,) = as_numbers(name, getattr(self, name), 1)
            check_number(name, value, low, open_low=True)
            object.__setattr__(self, name, value)
        check_choice("lens", self.lens, _COEFFICIENTS)
        values = as_numbers("distortion", self.distortion, *_COEFFICIENTS[self.lens])
        object.__setattr__(self, "distortion", values)
        if self.resolution is not None:
            object.__setattr__(self, "resolution", as_resolution(self.resolution))

    def __repr__(self) -> str:
        names = ("fx", "fy", "cx", "cy")
        numbers = ", ".join(f"{name}={getattr(self, name):.6g}" for name in names)
        lens = f", {self.lens}" if self.is_distorted else ""
        size = "" if self.resolution is None else ", {}x{}".format(*self.resolution)
        return f"Camera({numbers}{lens}{size})"

    @classmethod
    def from_file(cls, path: str | Path, name: str | None = None) -> "Camera":
        """Read a calibration: ROS camera_info, Kalibr, OpenCV, or nine numbers.

        The numbers are those of ``calib.txt`` of the Event Camera Dataset: ``fx fy cx cy`` and
        optionally ``k1 k2 p1 p2 k3``. Comments after ``#`` and lines after the first nine numbers are
        ignored. See :doc:`/guide/calibration` for the YAML files.

        Parameters
        ----------
        path : path
            The file.
        name : str, optional
            Camera of a file with several, such as "cam1" of Kalibr. Default: cam0, with a message.

        Raises
        ------
        ConfigError
            If a field is missing or wrong, or a lens model is not supported; the message names it.
        """
        path = Path(path)
        found = read_calibration(path, name)
        try:
            return cls.from_intrinsics(found)
        except (ConfigError, EventDataError) as error:
            raise ConfigError(f"{path}: {error}") from error

    @classmethod
    def from_intrinsics(cls, found: Intrinsics) -> "Camera":
        """Return the camera of a parsed calibration."""
        return cls(*found.focal, *found.center, found.distortion, found.lens, found.resolution)

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
        cx, cy = self.cx - left, self.cy - top
        return replace(self, cx=cx, cy=cy, resolution=None, is_cropped=True)

    @property
    def matrix(self) -> Floats:
        """Matrix from rays to ideal pixels, shape (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def is_distorted(self) -> bool:
        """Whether the lens distorts: any coefficient is not zero, or it is a fisheye lens."""
        return self.lens != PLUMB_BOB or any(self.distortion)

    def without_distortion(self) -> "Camera":
        """Return the same camera with an ideal lens."""
        return replace(self, distortion=(0.0,) * 5, lens=PLUMB_BOB)

    def mismatch_warning(self, resolution: Sequence[int]) -> str | None:
        """Return a warning if this may be the calibration of another sensor, else None.

        >>> camera = Camera(fx=200.0, fy=200.0, cx=119.5, cy=89.5)
        >>> camera.mismatch_warning((240, 180)) is None
        True
        >>> print(camera.mismatch_warning((640, 480)))
        The principal point (119.5, 89.5) px is far from (319.5, 239.5), the middle of the sensor of 640x480 px. Is it the calibration of this sensor, at this resolution?
        """
        width, height = as_resolution(resolution)
        if self.resolution not in (None, (width, height)):
            stated = "{}x{}".format(*self.resolution)
            return (
                f"The calibration is for a sensor of {stated} px, and this one has {width}x{height} px. "
                "Is it the calibration of this sensor, at this resolution?"
            )
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
        distort = distort_fisheye if self.lens == EQUIDISTANT else distort_visible_rays
        xn, yn = distort(self.distortion, (x - self.cx) / self.fx, (y - self.cy) / self.fy)
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
        undistort = undistort_fisheye if self.lens == EQUIDISTANT else undistort_rays
        xn, yn, error = undistort(self.distortion, *slopes)
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
