"""Map of kept events, with the class for maps of any kind."""

import numpy as np

from evcrisp.contrast import ContrastMap


def kept_map(x, y, kept, scale, resolution):
    """Return the map of the kept events."""
    contrast = ContrastMap(footprint="spline", sigma_px=0.0, scale=scale)
    x, y = np.asarray(x, np.float64)[kept], np.asarray(y, np.float64)[kept]
    return contrast.build(x, y, np.ones(x.size), resolution)
