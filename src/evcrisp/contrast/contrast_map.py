"""How a contrast map is made: footprint of an event, blur, padding, scale."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import ConfigError
from evcrisp.registry import lookup

Floats = NDArray[np.float64]

#: Footprints of an event by name: what they are.
FOOTPRINTS: dict[str, str] = {
    "nearest": "one pixel; no gradient",
    "bilinear": "a tent over four pixels",
    "spline": "a quadratic B-spline over nine pixels, sigma 0.5; continuous gradient",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastMap:
    r"""Recipe of the image of warped events (the paper's contrast map),

    .. math:: M(\mathbf{u}) = \sum_k w_k \, (\kappa * g_\sigma)(\mathbf{u} - \mathbf{x}'_k),

    with the footprint :math:`\kappa` and a Gaussian blur :math:`g_\sigma`.

    Parameters
    ----------
    footprint : {"bilinear", "spline", "nearest"}
        What one event adds before the blur.
    sigma_px : float, px of the map
        Blur after voting; 0 for none. The whole kernel has sigma
        ``sqrt(sigma_px**2 + s**2)`` with s = 0.41 (bilinear) or 0.5 (spline).
    padding_px : int, px of the sensor
        Border around the sensor, so that events that leave it still count. Whoever takes means
        over the map divides by its padded size.
    scale : int
        Pixels of the sensor per pixel of the map, along each axis.

    Notes
    -----
    Outside the padded map there are zeros; events whose footprint is not wholly inside add
    nothing, and read as 0. Pixel centers lie at integers.

    Examples
    --------
    One event at x = 1.25 splits 3 : 1 between columns 1 and 2.

    >>> plain = ContrastMap(sigma_px=0.0, padding_px=0)
    >>> one = np.ones(1)
    >>> plain.build(1.25 * one, 2.0 * one, one, (4, 4))[2]
    array([0.  , 0.75, 0.25, 0.  ])
    """

    footprint: str = "bilinear"
    sigma_px: float = 1.0
    padding_px: int = 24
    scale: int = 1

    def __post_init__(self) -> None:
        lookup(FOOTPRINTS, self.footprint, "footprint")
        if not 0.0 <= self.sigma_px <= 100.0:
            raise ConfigError(f"`sigma_px` must lie in 0..100 px; got {self.sigma_px}.")
        if not 0 <= self.padding_px <= 4096:
            raise ConfigError(f"`padding_px` must lie in 0..4096; got {self.padding_px}.")
        if not 1 <= self.scale <= 64:
            raise ConfigError(f"`scale` must lie in 1..64; got {self.scale}.")

    def shape(self, resolution: tuple[int, int]) -> tuple[int, int]:
        """Return ``(height, width)`` of the map of a sensor, padding included."""
        width, height = (
            math.ceil((side + 2 * self.padding_px) / self.scale) for side in resolution
        )
        # At least what the largest footprint needs, so that one pixel is a sensor too.
        return max(height, 4), max(width, 4)

    def build(self, x: Floats, y: Floats, weight: Floats, resolution: tuple[int, int]) -> Floats:
        """Return the map, shape :meth:`shape`.

        Parameters
        ----------
        x, y : ndarray, shape (n,), float64, px of the sensor
            Warped positions.
        weight : ndarray, shape (n,), float64
            1 counts an event, 0 drops it.
        resolution : (int, int)
            ``(width, height)`` of the sensor, px.
        """
        from evcrisp.kernels import splat

        votes = np.zeros(self.shape(resolution))
        accumulate = getattr(splat, f"accumulate_{self.footprint}")
        accumulate(*self.to_map(x, y), weight, votes)
        return self.blur(votes)

    def sample(self, image: Floats, x: Floats, y: Floats) -> Floats:
        """Return the value of a map at positions on the sensor, shape (n,); 0 outside.

        ``sample(build(...))`` weighs with the footprint once more; it is the adjoint of voting.
        """
        from evcrisp.kernels import splat

        values = np.empty(np.shape(x))
        getattr(splat, f"sample_{self.footprint}")(image, *self.to_map(x, y), values)
        return values

    def pull_back(self, gradient: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return d value / d x'_k and d value / d y'_k, shape (n,) each.

        Parameters
        ----------
        gradient : ndarray, shape of the map
            d value / d map. It is blurred with the same kernel, which is its own adjoint, and
            its slope is read at each event; no derivative image is ever made.
        x, y : ndarray, shape (n,), px of the sensor
            The positions of which the map was built. Weights are the caller's to multiply.
        """
        from evcrisp.kernels import splat

        if self.footprint == "nearest":
            raise ConfigError(
                "Footprint 'nearest' has no gradient. Use 'bilinear' or 'spline', or a solver that "
                "needs none."
            )
        slope_x, slope_y = np.empty(np.shape(x)), np.empty(np.shape(x))
        slope = getattr(splat, f"slope_{self.footprint}")
        slope(self.blur(gradient), *self.to_map(x, y), slope_x, slope_y)
        return slope_x / self.scale, slope_y / self.scale

    def own_value(self, x: Floats, y: Floats) -> Floats:
        """Return what one event of weight 1 reads of itself, shape (n,).

        Subtract it from :meth:`sample` for the leave-one-out value: the support by others.
        """
        u, v = self.to_map(x, y)
        return self._own_axis(u) * self._own_axis(v)

    def blur(self, image: Floats) -> Floats:
        """Return the image after the Gaussian blur."""
        from evcrisp.kernels import blur

        if self.sigma_px == 0.0:
            return image
        taps = gaussian_taps(self.sigma_px)
        rows, out = np.empty_like(image), np.empty_like(image)
        blur.blur_rows(image, taps, rows)
        blur.blur_columns(rows, taps, out)
        return out

    def to_map(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return positions on the map, px of the map.

        A pixel of a coarse map covers ``scale`` pixels of the sensor, and its center is theirs.
        """
        if self.scale == 1:
            return x + float(self.padding_px), y + float(self.padding_px)
        shift = (self.padding_px + 0.5) / self.scale - 0.5
        return x / self.scale + shift, y / self.scale + shift

    def _own_axis(self, u: Floats) -> Floats:
        """Value of an event's own kernel at itself along one axis: w^T B w with the blur B."""
        weights = _footprint_weights(self.footprint, u)
        taps = np.zeros(3)
        blur = gaussian_taps(self.sigma_px) if self.sigma_px else np.ones(1)
        taps[: min(3, blur.size)] = blur[:3]
        n = len(weights)
        total = np.zeros(np.shape(u))
        for i in range(n):
            for j in range(n):
                total += weights[i] * weights[j] * taps[abs(i - j)]
        return total


def _footprint_weights(footprint: str, u: Floats) -> tuple[Floats, ...]:
    """Return the weights of the pixels that an event at ``u`` votes for along one axis."""
    if footprint == "bilinear":
        a = u - np.floor(u)
        return 1.0 - a, a
    if footprint == "spline":
        a = u - np.floor(u + 0.5)
        return 0.5 * (0.5 - a) ** 2, 0.75 - a * a, 0.5 * (0.5 + a) ** 2
    return (np.ones(np.shape(u)),)


@lru_cache(maxsize=64)
def gaussian_taps(sigma_px: float) -> Floats:
    """Return half of a Gaussian filter, the middle first; all taps sum to 1.

    Cut off at four sigma, where 6e-5 of the weight is left.
    """
    radius = max(1, math.ceil(4.0 * sigma_px))
    taps = np.exp(-0.5 * (np.arange(radius + 1) / sigma_px) ** 2)
    taps /= taps[0] + 2.0 * taps[1:].sum()
    taps.flags.writeable = False
    return taps
