r"""Curvature of the contrast at its maximum, from the structure tensor of the aligned map.

An error of u px in the displacement blurs the map M along u: the events are spread evenly over the
window, so their positions spread with variance u^2 / 12. The log of the sum of squares then has the
second derivatives

.. math:: -\frac{1}{6} \frac{\sum (\nabla M) (\nabla M)^T}{\sum M^2}

for a translation. For other models the gradient is projected on the displacement per parameter at
each pixel. With this curvature, a solver converges in one or two steps.
"""

from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel
from evcrisp.search.scaling import displacement_fields, inverse_rates

#: Side of the tiles in which the displacement counts as constant, px of the sensor.
TILE_PX = 32

#: Differences between pixels underestimate slopes. Measured with scenes of all models on the finest
#: map: with this factor, a step covers 0.8 to 1.1 of the distance to the maximum on average, less
#: with more noise.
SLOPE_FACTOR = 1.15

#: Squared differences along an axis of an isolated event, averaged over subpixel positions.
ISOLATED_ENERGY = 0.3665

#: Share of it to subtract: no motion blurs an isolated event, but few events are fully isolated.
ISOLATED_SHARE = 0.3

#: Curvature along sharp lines, times the square of the scale: at a sigma of 1 px, a displacement of
#: 1 px within a window loses 1 / 24 of the contrast.
TYPICAL_CURVATURE = 1.0 / 12.0

#: Lower bound on the curvature in any direction, relative to the largest: motion along stripes is
#: unobservable, so steps there are limited. And relative to `TYPICAL_CURVATURE`, for empty maps.
MIN_RELATIVE, MIN_TYPICAL = 0.2, 0.05


def inverse_curvature(
    image: Floats,
    center_px: tuple[float, float],
    center: tuple[int, int],
    scale: int,
    n_events: int,
    model: MotionModel,
    resolution: tuple[int, int],
    *,
    least: float = 0.0,
) -> Floats:
    """Return the inverse of minus the second derivatives in scaled parameters, shape (m, m).

    ``image`` is the map of the warped events, with quadratic B-splines as footprints; its pixel
    ``center``, (column, row), is at ``center_px`` on the sensor. ``least`` is a lower bound on the
    curvature, relative to `TYPICAL_CURVATURE`: 1 prevents long steps where noise flattens the
    objective.
    """
    from evcrisp.kernels.search.structure_tensor import structure_tensor

    tile = max(TILE_PX // scale, 1)
    height, width = image.shape
    # Four tiles meet at the center, so that a mirrored map has mirrored tiles.
    before = -(-center[1] // tile), -(-center[0] // tile)
    n_tiles = (
        before[0] - (center[1] - height) // tile,
        before[1] - (center[0] - width) // tile,
    )
    lead = np.array([before[0] * tile - center[1], before[1] * tile - center[0]])
    if model.uniform_velocity(np.zeros(len(model.param_names))) is not None:
        center_px = 0.0, 0.0  # the same everywhere
    along = _displacements(model, resolution, center_px, tile * scale, before, n_tiles)
    tensor = np.empty((along[0].shape[-1],) * 2)
    energy, square = structure_tensor(image, tile, lead, *along, tensor)
    # On a map of noise, all events may be isolated.
    isolated = min(2.0 * ISOLATED_ENERGY * n_events / max(energy, 1e-30), 1.0)
    factor = SLOPE_FACTOR * (1.0 - ISOLATED_SHARE * isolated)
    tensor *= factor / (6.0 * scale * scale * max(square, 1e-30))
    values, axes = np.linalg.eigh(tensor)
    floor = max(least, MIN_TYPICAL) * TYPICAL_CURVATURE / (scale * scale)
    values = np.maximum(values, max(floor, MIN_RELATIVE * float(values[-1])))
    return (axes / values) @ axes.T


@lru_cache(maxsize=64)
def _displacements(
    model: MotionModel,
    resolution: tuple[int, int],
    center_px: tuple[float, float],
    tile_px: int,
    before: tuple[int, int],
    n_tiles: tuple[int, int],
) -> tuple[Floats, Floats]:
    """Return displacements of tile centers along x, y per unit parameter, px, (down, across, m).

    ``before`` is the number of tiles above and left of ``center_px``.
    """
    x, y = np.meshgrid(
        center_px[0] + tile_px * (np.arange(n_tiles[1]) - before[1] + 0.5),
        center_px[1] + tile_px * (np.arange(n_tiles[0]) - before[0] + 0.5),
    )
    unit = inverse_rates(model, resolution)
    model = model.without_distortion()  # warped events are at ideal pixels
    along_x, along_y = (
        (field @ unit).reshape(*n_tiles, -1)
        for field in displacement_fields(model, x.ravel(), y.ravel())
    )
    for along in (along_x, along_y):
        along.flags.writeable = False
    return along_x, along_y
