"""Colors of velocities: the hue is the direction, the saturation the speed."""

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Bytes, Floats


def flow_rgb(velocity: ArrayLike, top: float) -> Bytes:
    """Return the colors of velocities, shape (..., 3); no motion and unknown velocities are white.

    Directions go around the color circle: right is red, down yellow-green, left cyan, up violet.
    ``top`` is the speed of the full color; higher speeds have it too.

    >>> flow_rgb([[100.0, 0.0], [0.0, 0.0], [-100.0, 0.0], [np.nan, 0.0]], 100.0).tolist()
    [[255, 0, 0], [255, 255, 255], [0, 255, 255], [255, 255, 255]]
    """
    v = np.asarray(velocity, np.float64)
    known = np.isfinite(v).all(axis=-1)
    vx, vy = np.where(known, v[..., 0], 0.0), np.where(known, v[..., 1], 0.0)
    saturation = np.minimum(np.hypot(vx, vy) / max(top, 1e-9), 1.0)
    turns = np.arctan2(vy, vx) / (2.0 * np.pi) % 1.0
    full = _hue(turns)
    return np.rint(255.0 * (1.0 - saturation[..., None] * (1.0 - full))).astype(np.uint8)


def wheel_rgb(side: int) -> Bytes:
    """Return the key of :func:`flow_rgb`: a disk whose border is the full color, (side, side, 3).

    The color at a place is that of a motion from the middle to it.
    """
    offset = (np.arange(side) - 0.5 * (side - 1)) / (0.5 * side)
    x, y = np.meshgrid(offset, offset)
    disk = np.stack((x, y), axis=-1)
    disk[np.hypot(x, y) > 1.0] = 0.0  # white
    return flow_rgb(disk, 1.0)


def _hue(turns: Floats) -> Floats:
    """Return red, green and blue, 0 to 1, of pure colors; 0 and 1 turns are red, 1/3 is green."""
    distance = np.abs((turns[..., None] - np.array([0.0, 1.0, 2.0]) / 3.0 + 0.5) % 1.0 - 0.5)
    return np.clip(2.0 - 6.0 * distance, 0.0, 1.0)
