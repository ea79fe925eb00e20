"""Kalibr's camera chains, and files of the same kind such as DSEC's."""

import logging
from collections.abc import Mapping

from evcrisp.core.calibration.distortion_models import lens_of
from evcrisp.core.calibration.fields import Fields, Intrinsics
from evcrisp.core.errors import ConfigError

logger = logging.getLogger(__name__)


def kalibr_camera(fields: Fields, name: str | None = None) -> Intrinsics | None:
    """Return a camera of a chain, by name or the first; None if the file is no chain."""
    chain = fields
    if isinstance(fields.values.get("intrinsics"), Mapping):  # DSEC
        chain = fields.below("intrinsics")
    cameras = [key for key in chain.values if _is_camera(chain.values[key])]
    if not cameras:
        return None
    if name is not None and name not in cameras:
        known = ", ".join(cameras)
        raise ConfigError(f"there is no camera {name!r}; the file has {known}.")
    chosen = name or ("cam0" if "cam0" in cameras else cameras[0])
    if name is None and len(cameras) > 1:
        logger.warning(
            "The calibration has %d cameras (%s); taking %s. If it is not that of the recording, name "
            "another one: `Camera.from_file(path, name)`, or --camera FILE:NAME.",
            *(len(cameras), ", ".join(cameras), chosen),
        )
    return _camera(chain.below(chosen))


def _is_camera(value: object) -> bool:
    names = ("camera_model", "distortion_coeffs", "camera_matrix")
    return isinstance(value, Mapping) and any(name in value for name in names)


def _camera(fields: Fields) -> Intrinsics:
    model = fields.word("camera_model", "pinhole")
    if model != "pinhole":
        raise fields.error("camera_model", "must be pinhole; other projections are not supported")
    name = fields.find("intrinsics", "camera_matrix") or "intrinsics"
    fx, fy, cx, cy = fields.numbers(name, (4,), "4 numbers, fx fy cx cy in px")
    model, values = fields.word("distortion_model", "none"), ()
    if model != "none" or fields.find("distortion_coeffs") is not None:
        values = fields.numbers("distortion_coeffs", (0, 4, 5), "4 or 5 distortion coefficients")
    lens, distortion = lens_of(f"{fields.prefix}distortion_model", model, values)
    size = None
    if fields.find("resolution") is not None:
        width, height = fields.numbers("resolution", (2,), "2 numbers, width and height in px")
        size = int(width), int(height)
    return Intrinsics((fx, fy), (cx, cy), lens, distortion, size)
