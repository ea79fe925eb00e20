"""Gaussian filters for the blur of contrast maps."""

import math
from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats

#: Radius of filters, in sigmas; 6e-5 of the weight of a Gaussian lies outside.
REACH_SIGMAS = 4.0


def gaussian_radius(sigma_px: float) -> int:
    """Return the radius of a Gaussian filter, px."""
    return max(1, math.ceil(REACH_SIGMAS * sigma_px))


@lru_cache(maxsize=64)
def gaussian_taps(sigma_px: float) -> Floats:
    """Return half of a Gaussian filter, the center first; all taps sum to 1.

    Examples
    --------
    >>> [round(float(tap), 4) for tap in gaussian_taps(0.5)]
    [0.7866, 0.1065, 0.0003]
    """
    radius = gaussian_radius(sigma_px)
    taps = np.exp(-0.5 * (np.arange(radius + 1) / sigma_px) ** 2)
    taps /= taps[0] + 2.0 * taps[1:].sum()
    taps.flags.writeable = False
    return taps
