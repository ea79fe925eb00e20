"""Velocity of the image at given places and times, for any motion model."""

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats
from evcrisp.motion.protocol import MotionModel

#: Half of the time between the two positions of a point whose difference is taken, s.
_HALF_STEP_S = 1e-4

#: Half of the difference of parameters whose velocities are compared; units of the parameter.
_HALF_STEP = 1e-3


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


def velocity_rates(model: MotionModel, theta: Floats, x: float, y: float) -> Floats:
    """Return how the velocity at a pixel at ``t_ref`` changes with each parameter, shape (2, m).

    >>> from evcrisp.motion import Similarity
    >>> rates = velocity_rates(Similarity(center=(0.0, 0.0)), np.zeros(4), 10.0, 0.0)
    >>> rates.round(3) + 0.0
    array([[ 1.,  0.,  0., 10.],
           [ 0.,  1., 10.,  0.]])
    """
    if not model.uses_rays:
        return _pixel_velocity_rates(model, theta, np.array([x]), np.array([y]))[0]
    columns = []
    for step in _HALF_STEP * np.eye(theta.size):
        ahead = velocity_of(model, theta + step, [x], [y], [0.0])[0]
        behind = velocity_of(model, theta - step, [x], [y], [0.0])[0]
        columns.append((ahead - behind) / (2.0 * _HALF_STEP))
    return np.stack(columns, axis=1)


def velocity_rates_at(model: MotionModel, theta: Floats, x: Floats, y: Floats) -> Floats:
    """Return `velocity_rates` at several pixels, shape (k, 2, m)."""
    if model.name == "translation":
        return np.broadcast_to(np.eye(2), (x.size, 2, 2))
    if model.uses_rays:
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        return np.stack([velocity_rates(model, theta, *pair) for pair in pairs])
    return _pixel_velocity_rates(model, theta, x, y)


def _pixel_velocity_rates(model: MotionModel, theta: Floats, x: Floats, y: Floats) -> Floats:
    """Return the same by one warp: at the reference time, warping reverts the velocity."""
    steps, m, k = _HALF_STEP * np.eye(theta.size), theta.size, x.size
    values = np.tile(np.concatenate((theta + steps, theta - steps)).T, k)  # (m, 2 m k)
    at = np.repeat(x, 2 * m), np.repeat(y, 2 * m)
    after, before = (
        np.stack(model.warp(values, *at, np.full(2 * m * k, dt)))
        for dt in (_HALF_STEP_S, -_HALF_STEP_S)
    )
    velocity = ((before - after) / (2.0 * _HALF_STEP_S)).reshape(2, k, 2 * m)
    rates = (velocity[..., :m] - velocity[..., m:]) / (2.0 * _HALF_STEP)
    return np.ascontiguousarray(np.moveaxis(rates, 0, 1))
