"""Scaled motion parameters: pixels of displacement instead of px/s, rad/s and 1/s."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats
from evcrisp.motion import Affine, MotionModel

_POINTS = 12  # sample points per axis of the sensor
_STEP = 1e-5  # of a parameter, for differences; small enough for a model to be linear


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    r"""Linear map to scaled parameters, :math:`u = T R \theta`.

    The length of ``u`` is the root mean square, over the sensor, of the displacement during the
    time T in px, to first order. R comes from the QR decomposition of the displacement fields of
    the model, so the entries of ``u`` are independent. For a translation ``u`` is the displacement.

    >>> from evcrisp.motion import Translation
    >>> scaling = Scaling.of(Translation(), (346, 260), duration_s=0.03)
    >>> scaling.scaled((200.0, -100.0)).round(9) + 0.0
    array([ 6., -3.])
    """

    forward: Floats  # (m, m) T R, upper triangular
    backward: Floats  # (m, m) its inverse

    @classmethod
    def of(cls, model: MotionModel, resolution: tuple[int, int], duration_s: float) -> "Scaling":
        """Return the scaling of a model; a duration of 0 counts as one second."""
        duration_s = duration_s if duration_s > 0.0 else 1.0
        rates = displacement_rates(model, resolution)
        return cls(rates * duration_s, inverse_rates(model, resolution) / duration_s)

    def scaled(self, theta: ArrayLike) -> Floats:
        """Return the scaled parameters ``u`` of ``theta``, shape (m,)."""
        return self.forward @ np.asarray(theta, np.float64)

    def theta(self, scaled: Floats) -> Floats:
        """Return the motion parameters of ``u``, shape (m,)."""
        return self.backward @ scaled

    def gradient(self, gradient: Floats) -> Floats:
        """Convert a gradient with respect to ``theta`` to one with respect to ``u``."""
        return gradient @ self.backward


def displacement_fields(model: MotionModel, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return velocities along x and y per unit parameter, shape (n, m), px/s."""
    if isinstance(model, Affine):
        return model.rates(x, y)
    along_x, along_y = [], []
    for step in _STEP * np.eye(len(model.param_names)):
        # Warping reverts the motion, hence the minus.
        ahead, behind = model.warp(-step, x, y, 1.0), model.warp(step, x, y, 1.0)
        along_x.append((ahead[0] - behind[0]) / (2.0 * _STEP))
        along_y.append((ahead[1] - behind[1]) / (2.0 * _STEP))
    return np.stack(along_x, axis=-1), np.stack(along_y, axis=-1)


def sensor_points(resolution: tuple[int, int], per_axis: int = _POINTS) -> tuple[Floats, Floats]:
    """Return x, y of a regular grid over the sensor, shape (n,) each, px."""
    x, y = np.meshgrid(*(np.linspace(0.0, side - 1.0, per_axis) for side in resolution))
    return x.ravel(), y.ravel()


@lru_cache(maxsize=64)
def displacement_rates(model: MotionModel, resolution: tuple[int, int]) -> Floats:
    """Return R of the QR decomposition of the displacement fields over the sensor, (m, m)."""
    points = sensor_points(resolution)
    fields = np.concatenate(displacement_fields(model, *points)) / np.sqrt(points[0].size)
    r = np.linalg.qr(fields)[1]
    diagonal = np.diag(r)
    # On a sensor of a few pixels a zoom moves nothing: such parameters keep their own unit.
    weak = np.abs(diagonal) < 1e-6 * max(1.0, float(np.abs(diagonal).max()))
    sign = np.where(diagonal < 0.0, -1.0, 1.0)
    r = np.where(weak[:, None], np.eye(len(r)), r * sign[:, None])
    r.flags.writeable = False
    return r


@lru_cache(maxsize=64)
def inverse_rates(model: MotionModel, resolution: tuple[int, int]) -> Floats:
    """Return the inverse of `displacement_rates`: parameters per unit of ``u``, for 1 s, (m, m)."""
    inverse = np.linalg.inv(displacement_rates(model, resolution)).astype(np.float64)
    inverse.flags.writeable = False
    return inverse


@lru_cache(maxsize=64)
def main_directions(model: MotionModel, resolution: tuple[int, int]) -> Floats:
    """Return scaled parameters of the shifts, the rotation and the zoom that a model has.

    Shape (k, m), k = 1..4. Each row moves the image by 1 px (root mean square), as close as the
    model can to a shift right, a shift down, a rotation and a zoom, in this order. Motions that the
    model lacks, or that earlier rows cover, are omitted.
    """
    x, y = sensor_points(resolution)
    fields = np.concatenate(displacement_fields(model, x, y)) / np.sqrt(x.size)
    basis = fields @ inverse_rates(model, resolution)
    dx, dy = x - x.mean(), y - y.mean()
    one, zero = np.ones_like(x), np.zeros_like(x)
    rows: list[Floats] = []
    for along_x, along_y in ((one, zero), (zero, one), (-dy, dx), (dx, dy)):
        field = np.concatenate((along_x, along_y))
        row = basis.T @ (field / max(float(np.linalg.norm(field)), 1e-30))
        for other in rows:
            row = row - (row @ other) * other
        length = float(np.linalg.norm(row))
        if length > 0.3:  # the model has this motion at least in part
            rows.append(row / length)
    directions = np.array(rows) if rows else np.eye(basis.shape[1])[:1]
    directions.flags.writeable = False
    return directions
