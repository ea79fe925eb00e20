"""Models of one motion on which all layers of a window may lie."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.camera import Camera
from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.layers.find_layers import FoundLayers
from evcrisp.estimators.layers.fitting import displacements
from evcrisp.estimators.layers.layer_contrasts import LayerContrast, contradicts
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.motion import (
    Affine,
    Homography,
    MotionModel,
    Rigid,
    Rotation,
    Similarity,
    Translation,
)
from evcrisp.motion.protocol import center_of

#: Layers within this distance from one model (root mean square) may be one motion, px.
_COMMON_PX = 2.0

#: A part of a motion that moves the image by less (root mean square) is not needed, px.
_NEGLIGIBLE_PX = 0.5

#: Least share of the view that the events of one motion cover.
_LEAST_AREA = 0.3

#: Least share of the cells with signal.
_LEAST_CELLS = 0.2

#: Least share of the events of a layer to which the others may belong.
_LEAST_SHARE = 0.5

#: Events whose motions are compared with a model.
_N_EVENTS = 2048


#: Middle of a view or of an object, px.
Center = tuple[float, float]


class Start(NamedTuple):
    """A model, and parameters from which its search starts, per window; None for a cold search."""

    model: MotionModel
    theta: Floats | None


def common_models(
    window: LayerWindow,
    found: FoundLayers,
    signal: Bools,
    contrasts: Callable[[], list[LayerContrast]],
    camera: Camera | None = None,
) -> list[Start]:
    """Return the models that the motions of all signal events may share, simplest first.

    ``contrasts`` returns those of `layer_contrasts`.
    """
    chosen = np.flatnonzero(signal)
    if chosen.size < 16:
        return []
    chosen = window.some(chosen, _N_EVENTS)
    x, y = window.x[chosen].astype(np.float64), window.y[chosen].astype(np.float64)
    layer = found.label.reshape(-1)[window.cell[chosen]]
    moved = displacements(found.motions[layer].T, x, y)
    resolution = window.resolution
    # Turn and growth about the middle of the sensor mean little for a small object far from it.
    # And a few compact objects lie on one model whatever their motions.
    extent = [_extent(side) for side in (x, y)]
    n_cells = window.cells_shape[1] * window.cells_shape[2]
    counts = np.bincount(window.cell[signal], minlength=int(np.prod(window.cells_shape)))
    n_used = np.count_nonzero(counts.reshape(-1, n_cells).sum(axis=0) > 1)
    is_wide = extent[0] * extent[1] > _LEAST_AREA * resolution[0] * resolution[1]
    if not is_wide or n_used < _LEAST_CELLS * n_cells:
        return _uniform_start(found, moved)
    center_x, center_y = center = center_of(resolution)
    starts: list[Start] = []
    field, residual_px = _affine(x - center_x, y - center_y, moved)
    if residual_px < _COMMON_PX:
        starts += _affine_starts(field, x - center_x, y - center_y, center)
    else:
        starts += _largest_starts(layer, x - center_x, y - center_y, moved, center)
    if starts and contradicts(window, contrasts(), *starts[-1]):
        starts = []
    simpler: list[Start] = []
    if len(found) == 1:  # an affine motion may slide along edges without end; these hardly can
        simpler = models_near(field, center)[1:3]
    homography = Homography.for_sensor(resolution)
    a, b = (x - center_x) / homography.scale, (y - center_y) / homography.scale
    rates, residual_px = _homography(a, b, moved / homography.scale)
    if residual_px * homography.scale < _COMMON_PX:
        if camera is not None:
            starts.insert(0, Start(Rotation(camera), None))
        starts.append(Start(homography, rates))
    known = [start.model.name for start in starts]
    return starts + [start for start in simpler if start.model.name not in known]


def _extent(values: Floats) -> float:
    """Return the length within which the middle 90 % of values lie; `np.percentile` takes longer."""
    ranked, place = np.sort(values), 0.05 * (values.size - 1)
    low, part = int(place), place % 1.0
    first = ranked[low] + part * (ranked[low + 1] - ranked[low])
    last = ranked[-1 - low] - part * (ranked[-1 - low] - ranked[-2 - low])
    return float(last - first)


def _uniform_start(found: FoundLayers, moved: Floats) -> list[Start]:
    """Return the translation of a single layer that neither turns nor grows, of whatever size."""
    mean = moved.mean(axis=0)
    if len(found) > 1 or _rms(moved - mean) > _NEGLIGIBLE_PX or not found.motions[:, :6].any():
        return []
    return [Start(Translation(), mean)]


def _affine(x: Floats, y: Floats, moved: Floats) -> tuple[Floats, float]:
    """Return velocity and matrix of the affine field through displacements, and its residual."""
    rows = np.column_stack((np.ones(x.size), x, y))
    solution = _least_squares(rows, moved)
    shift, along_x, along_y = solution
    field = np.array([*shift, along_x[0], along_y[0], along_x[1], along_y[1]])
    return field, _rms(moved - rows @ solution)


def _largest_starts(
    layer: NDArray[np.int16], x: Floats, y: Floats, moved: Floats, center: Center
) -> list[Start]:
    """Return similar models of the largest layer, if it turns or grows: others may belong to its field."""
    largest = layer == np.bincount(layer).argmax()
    if np.count_nonzero(largest) < _LEAST_SHARE * layer.size:
        return []
    field, _ = _affine(x[largest], y[largest], moved[largest])
    starts = _affine_starts(field, x, y, center)
    if starts[0].model.name == "translation":
        return []
    return [start for start in starts if start.model.name in ("rigid", "similarity")]


def _homography(a: Floats, b: Floats, moved: Floats) -> tuple[Floats, float]:
    """Return the rates of the homography through displacements, to first order, and its residual."""
    one, zero = np.ones(a.size), np.zeros(a.size)
    across = np.column_stack((a, b, one, zero, zero, zero, -a * a, -a * b))
    down = np.column_stack((zero, zero, zero, a, b, one, -a * b, -b * b))
    rows = np.concatenate((across, down))
    rates = _least_squares(rows, moved.T.reshape(-1))
    return rates, _rms(moved - np.stack((across @ rates, down @ rates), axis=-1))


def _least_squares(rows: Floats, wanted: Floats) -> Floats:
    """Solve by normal equations, a hundred times faster than by singular values."""
    products = rows.T @ rows
    # Positions in one line or at one point do not determine all parameters.
    products[np.diag_indices_from(products)] += 1e-9 * max(float(np.trace(products)), 1e-9)
    return np.linalg.solve(products, rows.T @ wanted).astype(np.float64)


def _rms(difference: Floats) -> float:
    return float(np.sqrt((difference**2).sum(axis=1).mean()))


def _affine_starts(field: Floats, x: Floats, y: Floats, center: Center) -> list[Start]:
    """Return the simplest model of an affine field, and those with more parameters."""
    spread = float(np.sqrt((x**2 + y**2).mean()))
    _, _, xx, xy, yx, yy = field.tolist()
    turn, growth = 0.5 * abs(yx - xy) * spread, 0.5 * abs(xx + yy) * spread
    stretch = 0.5 * float(np.hypot(xx - yy, xy + yx)) * spread
    needed = [part > _NEGLIGIBLE_PX for part in (turn, growth, stretch)]
    k = max((k + 1 for k, is_needed in enumerate(needed) if is_needed), default=0)
    return models_near(field, center)[k:]


def models_near(field: Floats, center: Center) -> list[Start]:
    """Return the models up to an affine field about a center, with the parameters of that nearest to it."""
    vx, vy, xx, xy, yx, yy = field.tolist()
    similarity = np.array([vx, vy, 0.5 * (yx - xy), 0.5 * (xx + yy)])
    return [
        Start(Translation(), similarity[:2]),
        Start(Rigid(center), similarity[:3]),
        Start(Similarity(center), similarity),
        Start(Affine(center), field),
    ]
