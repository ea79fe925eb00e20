r"""How fast contrast falls around the sharpest motion, told by the aligned map alone.

A wrong displacement of u px within the window smears the map M along u: its events come at all times
of the window alike, whose variance is 1/12 of its square. So the log of the sum of squares has the
second derivatives

.. math:: -\frac{1}{6} \frac{\sum (\nabla M) (\nabla M)^T}{\sum M^2}

for a translation, and for other models the same with the displacement that each parameter makes at
a pixel. A search that knows them finds the top in a step or two.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evcrisp.estimators.scaling import displacement_fields, displacement_rates
from evcrisp.motion import MotionModel

Floats = NDArray[np.float64]

#: Side of the tiles over which a displacement is taken as even, px of the sensor.
_TILE_PX = 32

#: Differences between pixels are smaller than slopes. Measured with scenes of all models with and without
#: noise: with it, a step goes 0.8 to 1.1 of the way on average, and 0.5 to 1.3 along any direction.
_STEEPER = 1.15

#: What a lone event adds to the squared differences along an axis, on average over its places.
_ALONE = 0.3665

#: Share of that which does not count: no motion smears a lone event, but few are quite alone.
_UNMOVED = 0.75

#: Least curvature over that of sharp lines. Along stripes nothing tells the motion, and no step shall be long.
_LEAST = 0.05


def inverse_curvature(
    image: Floats,
    origin_px: tuple[float, float],
    scale: int,
    n_events: int,
    model: MotionModel,
    resolution: tuple[int, int],
) -> Floats:
    """Return the inverse of minus the second derivatives by scaled parameters, shape (m, m).

    Parameters
    ----------
    image : ndarray, shape (h, w)
        Map of the warped events, voted by quadratic B-splines.
    origin_px : (float, float), px of the sensor
        Where its first pixel lies.
    scale : int
        Pixels of the sensor per pixel of the map.
    n_events : int
        Events on the map.
    model : MotionModel
        How they were moved.
    resolution : (int, int)
        Size of the sensor.
    """
    from evcrisp.kernels.bends import add_bends

    tile = max(_TILE_PX // scale, 1)
    height, width = image.shape
    along = _displacements(
        model, resolution, origin_px, tile * scale, -(-height // tile), -(-width // tile)
    )
    bends = np.empty((along[0].shape[-1],) * 2)
    steep, square = add_bends(image, tile, *along, bends)
    # Lone events make up to all of a map of noise.
    alone = min(2.0 * _ALONE * n_events / max(steep, 1e-30), 1.0)
    bends *= _STEEPER * (1.0 - _UNMOVED * alone) / (6.0 * scale * scale * max(square, 1e-30))
    values, axes = np.linalg.eigh(bends)
    values = np.maximum(values, _LEAST / (12.0 * scale * scale))
    return (axes / values) @ axes.T


@lru_cache(maxsize=64)
def _displacements(
    model: MotionModel,
    resolution: tuple[int, int],
    origin_px: tuple[float, float],
    tile_px: int,
    n_down: int,
    n_across: int,
) -> tuple[Floats, Floats]:
    """Return how far the middle of every tile moves per unit of each scaled parameter, px.

    Two arrays of shape (n_down, n_across, m), along x and along y.
    """
    sides = (
        # Off the sensor a lens may have no rays.
        np.clip(first + tile_px * (np.arange(n) + 0.5), 0.0, size - 1.0)
        for first, n, size in zip(origin_px, (n_across, n_down), resolution, strict=True)
    )
    x, y = np.meshgrid(*sides)
    unit = np.linalg.inv(displacement_rates(model, resolution))
    along_x, along_y = (
        (field @ unit).reshape(n_down, n_across, -1)
        for field in displacement_fields(model, x.ravel(), y.ravel())
    )
    return along_x, along_y
