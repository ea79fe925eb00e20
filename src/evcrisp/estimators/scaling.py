"""Motion parameters in pixels: what a solver sees instead of px/s, rad/s and 1/s."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.motion import MotionModel

Floats = NDArray[np.float64]

_POINTS = 12  # per axis, over the sensor
_STEP = 1e-5  # of a parameter; small enough for a model to be linear


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    r"""A linear change of parameters, :math:`u = T R \theta`, after which all models are alike.

    The length of ``u`` is the root mean square, over the sensor, of the displacement during the
    window in px, to first order. Its entries do not disturb each other: R comes from the QR
    decomposition of the model's displacement fields. For a translation ``u`` is the displacement
    itself.
    """

    forward: Floats  # (m, m) T R, upper triangular
    backward: Floats  # (m, m) its inverse

    @classmethod
    def of(cls, model: MotionModel, resolution: tuple[int, int], duration_s: float) -> "Scaling":
        """Return the scaling of a model on a sensor for windows of a duration."""
        rates, fields_ok = _rates(model, resolution)
        # A window without a duration tells no motion; any scale is as good as another.
        forward = rates * (duration_s if duration_s > 0.0 and fields_ok else 1.0)
        return cls(forward, np.linalg.inv(forward))

    def scaled(self, theta: ArrayLike) -> Floats:
        """Return ``u`` of parameters ``theta``, shape (m,)."""
        return self.forward @ np.asarray(theta, np.float64)

    def theta(self, scaled: Floats) -> Floats:
        """Return the parameters that ``u`` stands for, shape (m,)."""
        return self.backward @ scaled

    def gradient(self, gradient: Floats) -> Floats:
        """Turn a gradient with respect to ``theta`` into one with respect to ``u``."""
        return self.backward.T @ gradient

    def directions(self, model: MotionModel, resolution: tuple[int, int]) -> Floats:
        """Return how to shift, turn and grow the image, one row of ``u`` each, as far as possible.

        Every row moves the image by 1 px (root mean square) in the way that comes nearest to a
        shift right, a shift down, a turn, and a growth, in this order. What the model cannot do, or
        what earlier rows do already, is left out. Shape (1..4, m).
        """
        return _directions(model, resolution)


def _fields(model: MotionModel, resolution: tuple[int, int]) -> tuple[Floats, Floats, Floats]:
    """Return x, y of points on the sensor and the displacement fields, (2 n, m) px per unit."""
    width, height = resolution
    x, y = np.meshgrid(
        np.linspace(0.0, width - 1.0, _POINTS), np.linspace(0.0, height - 1.0, _POINTS)
    )
    x, y = x.ravel(), y.ravel()
    columns = []
    for step in _STEP * np.eye(len(model.param_names)):
        # Warping moves against the image: the image itself goes the other way.
        ahead = np.concatenate(model.warp(-step, x, y, 1.0))
        behind = np.concatenate(model.warp(step, x, y, 1.0))
        columns.append((ahead - behind) / (2.0 * _STEP))
    return x, y, np.stack(columns, axis=1) / np.sqrt(x.size)


@lru_cache(maxsize=64)
def _rates(model: MotionModel, resolution: tuple[int, int]) -> tuple[Floats, bool]:
    """Return R of the QR decomposition of the displacement fields, and whether it is regular."""
    _, _, fields = _fields(model, resolution)
    r = np.linalg.qr(fields)[1] if np.isfinite(fields).all() else np.zeros((fields.shape[1],) * 2)
    diagonal = np.diag(r)
    # On a sensor of a few pixels a growth moves nothing: such fields get a unit of their own.
    weak = np.abs(diagonal) < 1e-6 * max(1.0, float(np.abs(diagonal).max()))
    r = np.where(weak[:, None], np.eye(len(r)), r * np.sign(np.where(weak, 1.0, diagonal))[:, None])
    r.flags.writeable = False
    return r, True


@lru_cache(maxsize=64)
def _directions(model: MotionModel, resolution: tuple[int, int]) -> Floats:
    x, y, fields = _fields(model, resolution)
    rates, _ = _rates(model, resolution)
    basis = fields @ np.linalg.inv(rates)  # orthonormal columns; u are coordinates in it
    dx, dy = x - x.mean(), y - y.mean()
    one, zero = np.ones_like(x), np.zeros_like(x)
    rows: list[Floats] = []
    for along_x, along_y in ((one, zero), (zero, one), (-dy, dx), (dx, dy)):
        wanted = np.concatenate((along_x, along_y))
        size = float(np.linalg.norm(wanted))
        if size == 0.0:
            continue
        row = basis.T @ (wanted / size)
        for other in rows:
            row = row - (row @ other) * other
        length = float(np.linalg.norm(row))
        if length > 0.3:  # the model can do at least something of the kind
            rows.append(row / length)
    return np.array(rows) if rows else np.eye(len(rates))[:1]
