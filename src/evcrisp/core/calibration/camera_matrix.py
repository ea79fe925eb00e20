"""Calibrations with a camera matrix: ROS camera_info files and messages, and OpenCV's files."""

from collections.abc import Mapping
from typing import Any

from evcrisp.core.calibration.distortion_models import lens_of
from evcrisp.core.calibration.fields import Fields, Intrinsics

#: Names of the matrix and of the coefficients: ROS and OpenCV's examples, ROS messages, other programs.
MATRIX_NAMES = ("camera_matrix", "K", "k", "Camera_Matrix", "cameraMatrix", "intrinsic_matrix")
_COEFFICIENT_NAMES = (
    "distortion_coefficients", "D", "d", "Distortion_Coefficients", "distCoeffs", "dist_coeffs",
    "distortion_coeffs",
)  # fmt: skip
_MODEL_NAMES = ("distortion_model",)
_SIZE_NAMES = (
    ("image_width", "image_height"),
    ("width", "height"),
    ("image_Width", "image_Height"),
)
_COUNTS = (4, 5, 8, 12, 14)  # of OpenCV's models


def matrix_camera(fields: Fields) -> Intrinsics | None:
    """Return the camera of a file with a camera matrix; None if it has no such field."""
    name = fields.find(*MATRIX_NAMES)
    if name is None or not _is_matrix(fields.values[name]):
        return None
    m = _matrix(fields, name, (9,), "a 3 x 3 camera matrix")
    if m[1] or m[3] or m[6:8] != (0.0, 0.0) or m[8] != 1.0:
        raise fields.error(name, "must be fx 0 cx, 0 fy cy, 0 0 1; skew is not supported")
    lens, distortion = _lens(fields)
    sizes = (fields.size(*names) for names in _SIZE_NAMES)
    size = next((size for size in sizes if size is not None), None)
    return Intrinsics((m[0], m[4]), (m[2], m[5]), lens, distortion, size)


def _lens(fields: Fields) -> tuple[str, tuple[float, ...]]:
    name = fields.find(*_COEFFICIENT_NAMES)
    wanted = "4, 5, 8, 12 or 14 distortion coefficients, or none"
    values = () if name is None else _matrix(fields, name, (0, *_COUNTS), wanted)
    model = fields.find(*_MODEL_NAMES)
    # OpenCV's calibration example marks a fisheye lens.
    default = "fisheye" if fields.values.get("fisheye_model") in (1, True) else "plumb_bob"
    word = default if model is None else fields.word(model)
    return lens_of(model or "fisheye_model", word, values)


def _is_matrix(value: Any) -> bool:
    return (isinstance(value, Mapping) and "data" in value) or isinstance(value, list)


def _matrix(fields: Fields, name: str, counts: tuple[int, ...], wanted: str) -> tuple[float, ...]:
    """Return the numbers of a matrix: a list, a list of rows, or a group with ``data``."""
    value = fields.values[name]
    if isinstance(value, Mapping):
        inner = fields.below(name)
        numbers = inner.numbers("data", counts, wanted)
        rows, columns = inner.values.get("rows"), inner.values.get("cols")
        if isinstance(rows, int) and isinstance(columns, int) and rows * columns != len(numbers):
            raise inner.error("data", f"must have rows x cols = {rows} x {columns} numbers")
        return numbers
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        flat = [number for row in value for number in row]
        return Fields({name: flat}, fields.prefix).numbers(name, counts, wanted)
    return fields.numbers(name, counts, wanted)
