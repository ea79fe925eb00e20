r"""How fast contrast falls around the sharpest motion, told by the aligned map alone.

A wrong displacement of u px within the window smears the map M along u: its events come at all times
of the window alike, so that their places spread with a variance of u^2 / 12. The log of the sum of
squares then has the second derivatives

.. math:: -\frac{1}{6} \frac{\sum (\nabla M) (\nabla M)^T}{\sum M^2}

for a translation, and for other models the same with the displacement that each parameter makes at
a pixel. A search that knows them finds the top in a step or two.
"""

from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel
from evcrisp.search.scaling import displacement_fields, displacement_rates

#: Side of the tiles over which a displacement is taken as even, px of the sensor.
_TILE_PX = 32

#: Differences between pixels are smaller than slopes. Measured with scenes of all models on the finest map:
#: with it, a step goes 0.8 to 1.1 of the way on average, less the more noise there is.
_STEEPER = 1.15

#: What a lone event adds to the squared differences along an axis, on average over its places.
_ALONE = 0.3665

#: Share of that which does not count: no motion smears a lone event, but few are quite alone.
_UNMOVED = 0.3

#: Curvature along sharp lines, times the square of the scale: 1 px of displacement within a window loses
#: 1 / 24 of the contrast at a sigma of 1 px.
USUAL = 1.0 / 12.0

#: Least curvature along any direction, as a share of the largest one: along stripes nothing tells the
#: motion, and a search shall not run there. And over the usual one, for maps that show nothing at all.
_LEAST, _LEAST_AT_ALL = 0.2, 0.05


def inverse_curvature(
    image: Floats,
    origin_px: tuple[float, float],
    scale: int,
    n_events: int,
    model: MotionModel,
    resolution: tuple[int, int],
    *,
    least: float = 0.0,
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
        Events that were moved.
    model : MotionModel
        How they were moved.
    resolution : (int, int)
        Size of the sensor.
    least : float
        Least curvature along any direction, over the usual one: 1 keeps steps from being long
        where noise makes the hill flat.
    """
    from evcrisp.kernels.search.structure_tensor import add_bends

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
    floor = max(least, _LEAST_AT_ALL) * USUAL / (scale * scale)
    values = np.maximum(values, max(floor, _LEAST * float(values[-1])))
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
    x, y = np.meshgrid(
        origin_px[0] + tile_px * (np.arange(n_across) + 0.5),
        origin_px[1] + tile_px * (np.arange(n_down) + 0.5),
    )
    unit = np.linalg.inv(displacement_rates(model, resolution))
    model = model.without_distortion()  # warped events are at ideal pixels
    along_x, along_y = (
        (field @ unit).reshape(n_down, n_across, -1)
        for field in displacement_fields(model, x.ravel(), y.ravel())
    )
    for along in (along_x, along_y):
        along.flags.writeable = False
    return along_x, along_y
