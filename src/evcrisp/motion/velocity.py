"""Velocity of the image at given places and times, for any motion model."""

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats
from evcrisp.motion.protocol import MotionModel

#: Half of the time between the two positions of a point whose difference is taken, s.
_HALF_STEP_S = 1e-4


def velocity_of(
    model: MotionModel, theta: Floats, x: ArrayLike, y: ArrayLike, dt: ArrayLike
) -> Floats:
    """Return the velocity of the points that are seen at pixels (x, y) at ``t_ref + dt``.

    ``x``, ``y``, ``dt`` have one shape; the result has one more axis, of length 2, px/s. It is NaN
    where the model has no position. A turn of 2 rad/s moves a point at a radius of 10 px by 20 px/s.

    >>> from evcrisp.motion import Similarity
    >>> model = Similarity(center=(0.0, 0.0))
    >>> velocity_of(model, np.array([0.0, 0.0, 2.0, 0.0]), [10.0], [0.0], [0.0]).round(4) + 0.0
    array([[ 0., 20.]])
    """
    x, y, dt = (np.asarray(column, np.float64) for column in (x, y, dt))
    uniform = model.uniform_velocity(theta)
    if uniform is not None:
        return np.broadcast_to(uniform, (*x.shape, 2)).copy()
    points = model.warp(theta, x, y, dt)
    before = model.inverse(theta, *points, dt - _HALF_STEP_S)
    after = model.inverse(theta, *points, dt + _HALF_STEP_S)
    steps = (last - first for first, last in zip(before, after, strict=True))
    return np.stack([step / (2.0 * _HALF_STEP_S) for step in steps], axis=-1)
