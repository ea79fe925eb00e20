"""Read the calibration of a camera: our nine numbers, ROS, Kalibr or OpenCV."""

import re
from collections.abc import Mapping
from pathlib import Path

from evcrisp.core.calibration.camera_matrix import matrix_camera
from evcrisp.core.calibration.fields import PLUMB_BOB, Fields, Intrinsics
from evcrisp.core.calibration.kalibr import kalibr_camera
from evcrisp.core.calibration.yaml_text import parse_yaml
from evcrisp.core.errors import ConfigError

#: Largest file that is read, characters; calibrations have a few thousand.
_MAX_CHARACTERS = 1 << 20

_NUMBERS = "a calibration must be 4 or 9 numbers, fx fy cx cy k1 k2 p1 p2 k3"

#: A line `key: value`; nine numbers have none.
_HAS_KEY = re.compile(r"^\s*['\"]?[A-Za-z_][\w ./-]*['\"]?\s*:(\s|$)", re.MULTILINE)


def read_calibration(path: Path, name: str | None = None) -> Intrinsics:
    """Return the camera of a file; ``name`` chooses one of several. Errors name file and field."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_MAX_CHARACTERS + 1)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: {_NUMBERS}; got a file that is not text.") from error
    if len(text) > _MAX_CHARACTERS:
        raise ConfigError(f"{path}: {_NUMBERS}, or YAML; got a text of more than 1 MiB.")
    try:
        return parse_calibration(text, name)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse_calibration(text: str, name: str | None = None) -> Intrinsics:
    """Return the camera that a text describes.

    >>> parse_calibration("200 200 120 90").center
    (120.0, 90.0)
    >>> text = "cam0: {camera_model: pinhole, intrinsics: [200, 200, 120, 90], distortion_coeffs: []}"
    >>> parse_calibration(text).focal
    (200.0, 200.0)
    """
    if text.lstrip().startswith("<"):
        raise ConfigError(
            "calibrations in XML are not read. Save it as YAML (OpenCV and DV can), or as a text of nine "
            "numbers, fx fy cx cy k1 k2 p1 p2 k3."
        )
    if text.startswith("%YAML") or text.lstrip()[:1] == "{" or _HAS_KEY.search(text):
        return _from_yaml(text, name)
    if name is not None:
        raise ConfigError(f"there is no camera {name!r}; the file has the numbers of one camera.")
    return _from_numbers(text)


def _from_numbers(text: str) -> Intrinsics:
    values: list[float] = []
    try:
        for line in text.splitlines():
            if len(values) < 9:
                values += [float(word) for word in line.partition("#")[0].split()]
    except ValueError as error:
        raise ConfigError(f"{_NUMBERS}; {error}.") from error
    if len(values) not in (4, 9):
        raise ConfigError(f"{_NUMBERS}; got {len(values)}.")
    fx, fy, cx, cy, *distortion = (*values, 0.0, 0.0, 0.0, 0.0, 0.0)[:9]
    return Intrinsics((fx, fy), (cx, cy), PLUMB_BOB, tuple(distortion))


def _from_yaml(text: str, name: str | None) -> Intrinsics:
    content = parse_yaml(text)
    if isinstance(content, Mapping):
        fields = Fields(content)
        found = matrix_camera(fields)
        if found is not None:
            own = content.get("camera_name")
            if name not in (None, own):
                raise ConfigError(f"there is no camera {name!r}; the file has one camera, {own!r}.")
            return found
        found = kalibr_camera(fields, name)
        if found is not None:
            return found
    keys = ", ".join(map(str, content)) if isinstance(content, Mapping) else type(content).__name__
    raise ConfigError(
        "no calibration found: expected camera_matrix (ROS camera_info, OpenCV), K (ROS message) or "
        f"cam0 with intrinsics (Kalibr); the file has {keys[:200]}."
    )
