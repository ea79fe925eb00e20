"""Affine motions of layers, and their fit to some events.

A motion is a row of eight numbers: displacement along x and y at a center, a matrix row by row (px per
px of distance), and the center; px per window.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats
from evcrisp.estimators.layers.layer_window import LayerWindow

#: Least radius of the events of a layer, px: turn and growth of a smaller spot mean nothing.
_LEAST_RADIUS_PX = 10.0

#: A fit that moves the center by more has left its layer, px per window.
_MAX_CORRECTION_PX = 8.0

#: Largest turn, growth or stretch within a window, rad or share: larger ones are a collapse.
_MAX_CHANGE = 0.3

#: Contrast across the weaker direction, relative to the stronger one, below which a layer has edges of
#: one direction only.
_LEAST_ACROSS = 0.12

#: More parameters must raise the log contrast by this, over the root of the pairs that meet.
_LEAST_GAIN = 1.5


def constant_motion(shift: Floats, center: tuple[float, float]) -> Floats:
    """Return a translation as a motion."""
    return np.array([*shift, 0.0, 0.0, 0.0, 0.0, *center])


def displacements(motion: Floats, x: Floats, y: Floats) -> Floats:
    """Return the displacement of a motion at positions, shape (n, 2), px per window."""
    a, b = x - motion[6], y - motion[7]
    along_x = motion[0] + motion[2] * a + motion[3] * b
    along_y = motion[1] + motion[4] * a + motion[5] * b
    return np.stack((along_x, along_y), axis=-1)


def fit_motion(
    window: LayerWindow,
    chosen: NDArray[Any],
    start: Floats,
    *,
    n_free: int,
    scales: tuple[float, ...],
    n_steps: int = 12,
    max_correction_px: float = _MAX_CORRECTION_PX,
) -> tuple[Floats, float]:
    """Fit a motion to the chosen events; return it with its log contrast.

    ``n_free`` is 2 for a translation, 4 for a similarity, 6 for an affine motion; ``scales`` are the
    px per pixel of the maps, coarse to fine; each has at most ``n_steps``. A motion that is corrected by more than
    ``max_correction_px`` has left its layer, and stays as it was.
    """
    from evcrisp.kernels.layers.affine_fit import fit_affine

    x, y, tau, p = window.x[chosen], window.y[chosen], window.tau[chosen], window.p[chosen]
    center_x, center_y = float(x.mean()), float(y.mean())
    spread = float(((x - center_x) ** 2 + (y - center_y) ** 2).mean())
    radius = max(spread**0.5, _LEAST_RADIUS_PX)
    parameters = _to_parameters(start, center_x, center_y, radius, n_free)
    first, value = parameters[:2].copy(), 0.0
    for scale in scales:
        tolerance = 0.05 * scale
        value, _ = fit_affine(
            x, y, tau, p, center_x, center_y, radius, n_free, scale, tolerance, n_steps, parameters
        )
    has_left = not np.linalg.norm(parameters[:2] - first) < max_correction_px
    if has_left or np.abs(parameters[2:]).max() > _MAX_CHANGE * radius:
        return start, -np.inf
    return _to_motion(parameters, center_x, center_y, radius), value


def fit_simplest(window: LayerWindow, chosen: NDArray[Any], start: Floats) -> Floats:
    """Fit an affine motion, or one of fewer parameters that is hardly less sharp.

    On few edges, turns and stretches can stand in for a shift.
    """
    best, most = fit_motion(window, chosen, start, n_free=6, scales=(2.0,))
    if not np.isfinite(most):
        return best
    # The contrast of a single event on the map is 0.3.
    n_pairs = chosen.size * max(float(np.exp(most)) - 0.3, 0.1)
    needed = _LEAST_GAIN / n_pairs**0.5
    for n_free in (2, 4):
        simple, value = fit_motion(window, chosen, best, n_free=n_free, scales=(2.0,))
        if value > most - needed:
            return simple
    return best


def without_sliding(
    window: LayerWindow, events: NDArray[Any], motion: Floats, other: Floats | None
) -> Floats:
    """Return a motion without the part along edges that its events cannot tell.

    If all edges of a layer have one direction, its motion along them is arbitrary. It is taken from
    another motion then, or is zero.
    """
    from evcrisp.kernels.layers.local_misfit import local_terms

    x, y = window.x[events].astype(np.float64), window.y[events].astype(np.float64)
    moved = displacements(motion, x, y) * window.tau[events, None]
    pull, tensor, count = np.empty((1, 1, 2)), np.empty((1, 1, 3)), np.empty((1, 1))
    width, height = window.resolution
    local_terms(
        x - moved[:, 0], y - moved[:, 1], window.tau[events], window.p[events], 2.0, 40.0,
        (height, width), 1e6, pull, tensor, count,
    )  # fmt: skip
    xx, xy, yy = tensor[0, 0]
    strengths, axes = np.linalg.eigh(np.array([[xx, xy], [xy, yy]]))
    if strengths[0] > _LEAST_ACROSS * strengths[1]:
        return motion
    along, center = axes[:, 0], motion[6:]
    wanted = np.zeros(2) if other is None else displacements(other, center[:1], center[1:])[0]
    fixed = motion.copy()
    fixed[:2] += along * float(along @ (wanted - motion[:2]))
    return fixed


def _to_parameters(motion: Floats, x: float, y: float, radius: float, n_free: int) -> Floats:
    """Return displacement at a center, turn, growth and stretches at a radius, px."""
    shift = displacements(motion, np.array([x]), np.array([y]))[0]
    xx, xy, yx, yy = motion[2:6] * radius
    halves = 0.5 * np.array([yx - xy, xx + yy, xx - yy, xy + yx])
    halves[max(n_free - 2, 0) :] = 0.0
    return np.concatenate((shift, halves))


def _to_motion(parameters: Floats, x: float, y: float, radius: float) -> Floats:
    from evcrisp.kernels.layers.affine_fit import linear_part

    matrix = np.empty(4)
    linear_part(parameters, radius, matrix)
    return np.concatenate((parameters[:2], matrix, (x, y)))
