"""Affine motions of layers, and their fit to some events.

A motion is a row of eight numbers: displacement along x and y at a center, a matrix row by row (px per
px of distance), and the center; px per window.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats
from evcrisp.estimators.layers.layer_window import CellEvents

#: A fit that moves the center by more has left its layer, px per window.
MAX_CORRECTION_PX = 8.0

#: Contrast across the weaker direction, relative to the stronger one, below which a layer has edges of
#: one direction only.
LEAST_ACROSS = 0.12

#: Events that suffice to tell the direction of edges.
DIRECTION_EVENTS = 4_000

#: More parameters must raise the log contrast by this, over the root of the pairs that meet.
LEAST_GAIN = 1.5


def constant_motion(shift: Floats, center: tuple[float, float]) -> Floats:
    """Return a translation as a motion."""
    return np.array([*shift, 0.0, 0.0, 0.0, 0.0, *center])


def displacements(motion: Floats, x: Floats, y: Floats) -> Floats:
    """Return the displacement of a motion at positions, shape (n, 2), px per window."""
    a, b = x - motion[6], y - motion[7]
    along_x = motion[0] + motion[2] * a + motion[3] * b
    along_y = motion[1] + motion[4] * a + motion[5] * b
    return np.stack((along_x, along_y), axis=-1)


def aligned(window: CellEvents, events: NDArray[Any], motion: Floats) -> tuple[Floats, Floats]:
    """Return the positions of events as a motion aligns them, px."""
    from evcrisp.kernels.layers.placement import align

    x, y = np.empty((2, events.size))
    align(window.x, window.y, window.tau, events, motion, x, y)
    return x, y


def fit_motion(
    window: CellEvents,
    chosen: NDArray[Any],
    start: Floats,
    *,
    n_free: int,
    scales: tuple[float, ...],
    n_steps: int = 12,
    max_correction_px: float = MAX_CORRECTION_PX,
) -> tuple[Floats, float]:
    """Fit a motion to the chosen events; return it with its log contrast.

    ``n_free`` is 2 for a translation, 3 for a rigid motion, 4 for a similarity, 6 for an affine one; ``scales`` are the
    px per pixel of the maps, coarse to fine; each has at most ``n_steps``. A motion that is corrected by
    more than ``max_correction_px`` has left its layer, and stays as it was, with -inf.
    """
    from evcrisp.kernels.layers.affine_fit import fit_chosen

    found = np.empty(8)
    value = fit_chosen(
        window.x, window.y, window.tau, window.p, chosen, start, n_free, np.array(scales),
        n_steps, max_correction_px, found,
    )  # fmt: skip
    return found, value


def log_contrast(window: CellEvents, chosen: NDArray[Any], motion: Floats) -> float:
    """Return the log contrast of the chosen events at a motion; -inf if it is a collapse."""
    return fit_motion(window, chosen, motion, n_free=6, scales=(2.0,), n_steps=0)[1]


def fit_simplest(window: CellEvents, chosen: NDArray[Any], start: Floats) -> Floats:
    """Fit an affine motion, or one of fewer parameters that is hardly less sharp.

    On few edges, turns and stretches can stand in for a shift.
    """
    best, most = fit_motion(window, chosen, start, n_free=6, scales=(2.0,))
    if not np.isfinite(most):
        return best
    for n_free in (2, 4):
        simple, value = fit_motion(window, chosen, best, n_free=n_free, scales=(2.0,))
        if value > most - _least_gain(chosen.size, most):
            return simple
    return best


def least_parameters(window: CellEvents, chosen: NDArray[Any], start: Floats, n_free: int) -> int:
    """Return with how few parameters a motion is hardly less sharp: 2, 3, 4, or ``n_free`` itself.

    Spokes of a wheel, or a single bar, do not show growth or stretch.
    """
    best, most = fit_motion(window, chosen, start, n_free=n_free, scales=(2.0,))
    for fewer in (2, 3, 4):
        if fewer >= n_free:
            break
        _, value = fit_motion(window, chosen, best, n_free=fewer, scales=(2.0,))
        if value > most - _least_gain(chosen.size, most):
            return fewer
    return n_free


def _least_gain(n_events: int, log_contrast: float) -> float:
    """Return the gain of the log contrast that more parameters need."""
    # The contrast of a single event on the map is 0.3.
    n_pairs = n_events * max(float(np.exp(log_contrast)) - 0.3, 0.1)
    return LEAST_GAIN / n_pairs**0.5


def without_sliding(
    window: CellEvents, events: NDArray[Any], motion: Floats, other: Floats | None
) -> Floats:
    """Return a motion without the part along edges that its events cannot tell.

    If all edges of a layer have one direction, its motion along them is arbitrary. It is taken from
    another motion then, or is zero.
    """
    from evcrisp.kernels.layers.local_misfit import local_terms

    events = window.some(events, DIRECTION_EVENTS)
    x, y = aligned(window, events, motion)
    pull, tensor, count = np.empty((1, 1, 2)), np.empty((1, 1, 3)), np.empty((1, 1))
    width, height = window.resolution
    local_terms(
        x, y, window.tau[events], window.p[events], 2.0, 40.0, (height, width), 1e6, pull, tensor, count,
    )  # fmt: skip
    xx, xy, yy = tensor[0, 0]
    strengths, axes = np.linalg.eigh(np.array([[xx, xy], [xy, yy]]))
    if strengths[0] > LEAST_ACROSS * strengths[1]:
        return motion
    along, center = axes[:, 0], motion[6:]
    wanted = np.zeros(2) if other is None else displacements(other, center[:1], center[1:])[0]
    fixed = motion.copy()
    fixed[:2] += along * float(along @ (wanted - motion[:2]))
    return fixed
