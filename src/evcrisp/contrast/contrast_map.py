"""How a contrast map is made: footprint of an event, blur, padding, scale."""

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evcrisp.contrast.gaussian_taps import gaussian_radius, gaussian_taps
from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.core.types import Floats
from evcrisp.core.validation import check_lengths

#: Footprints of an event by name: what they are.
FOOTPRINTS: dict[str, str] = {
    "nearest": "one pixel; no gradient",
    "bilinear": "a tent over four pixels",
    "spline": "a quadratic B-spline over nine pixels, sigma 0.5; continuous gradient",
    "gaussian": "a Gaussian of sigma_px cut off at four sigma, and no blur after it; slow",
}

#: A Gaussian below this has no weight left on the neighboring pixels.
_SMALLEST_BLUR_PX = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastMap:
    r"""Recipe of the image of warped events, the paper's contrast map.

    .. math:: M(\mathbf{u}) = \sum_k w_k \, (\phi * g_\sigma)(\mathbf{u} - \mathbf{x}'_k),

    with the footprint :math:`\phi` and a Gaussian blur :math:`g_\sigma`; eqs. (8) to (13) of
    ``docs/theory/math.md``.

    Parameters
    ----------
    footprint : {"bilinear", "spline", "gaussian", "nearest"}
        What one event adds before the blur.
    sigma_px : float, px of the map
        Blur after voting; 0 for none. The whole kernel has sigma
        ``sqrt(sigma_px**2 + s**2)`` with s = 0.41 (bilinear) or 0.5 (spline). For the footprint
        "gaussian" it is the sigma of the footprint, 0.5 to 10, and there is no other blur.
    padding_px : int, px of the sensor
        Border around the sensor, so that events that leave it still count. Whoever takes means
        over the map divides by its padded size.
    scale : int
        Pixels of the sensor per pixel of the map, along each axis.

    Notes
    -----
    Outside the padded map there are zeros; events whose footprint is not wholly inside (for
    "gaussian": whose nearest pixel is not inside) add nothing, and read as 0. The same goes for
    positions that are not finite. Pixel centers lie at integers.

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
        if self.footprint == "gaussian" and not 0.5 <= self.sigma_px <= 10.0:
            raise ConfigError(
                f"`sigma_px` of footprint 'gaussian' must lie in 0.5..10 px; got {self.sigma_px}. "
                "Use 'bilinear' or 'spline' with a blur for others."
            )
        for name, least, most in (("padding_px", 0, 4096), ("scale", 1, 64)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or not least <= value <= most:
                raise ConfigError(
                    f"`{name}` must be a whole number in {least}..{most}; got {value}."
                )

    def shape(self, resolution: tuple[int, int]) -> tuple[int, int]:
        """Return ``(height, width)`` of the map of a sensor, padding included."""
        if min(resolution) < 1:
            raise ConfigError(f"`resolution` must be (width, height) in px; got {resolution}.")
        width, height = (
            math.ceil((side + 2 * self.padding_px) / self.scale) for side in resolution
        )
        # At least what the spline needs, so that one pixel is a sensor too.
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
        iwe = np.zeros(self.shape(resolution))
        self.accumulate(*self.to_map(x, y), weight, iwe)
        return self.blur(iwe, out=iwe)

    def sample(self, image: Floats, x: Floats, y: Floats) -> Floats:
        """Return the value of a map at positions on the sensor, shape (n,); 0 outside.

        ``sample(build(...))`` weighs with the footprint once more; it is the adjoint of voting.
        """
        check_lengths(x=x, y=y)
        values = np.empty(np.shape(x))
        kernel, extra = self._kernel("sample")
        kernel(np.ascontiguousarray(image), *self.to_map(x, y), *extra, values)
        return values

    def self_value(self, x: Floats, y: Floats, resolution: tuple[int, int] | None = None) -> Floats:
        """Return what one event of weight 1 reads of itself, shape (n,).

        Subtract it from :meth:`sample` for the support by others, or call :meth:`leave_one_out`.
        With ``resolution`` it is 0 for the events that are not on the map, as :meth:`sample` is;
        without it the map has no end.
        """
        u, v = self.to_map(x, y)
        if resolution is not None:
            return self._own(u, v, self.shape(resolution))
        # Only the place within a pixel matters far from a border.
        side = 2 * gaussian_radius(self.sigma_px) + 4
        with np.errstate(invalid="ignore"):
            u, v = (side + (position - np.floor(position)) for position in (u, v))
        return self._own(u, v, (2 * side, 2 * side))

    def leave_one_out(
        self, image: Floats, x: Floats, y: Floats, weight: Floats | float = 1.0
    ) -> Floats:
        """Return what each event reads of the others, shape (n,); 0 outside.

        Parameters
        ----------
        image : ndarray, shape of the map
            The map that was built of these events with this ``weight``.
        x, y : ndarray, shape (n,), px of the sensor
            The positions of which it was built.
        weight : ndarray, shape (n,), or float
            What each event added to it.
        """
        own = self._own(*self.to_map(x, y), image.shape)
        return self.sample(image, x, y) - weight * own

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
        slope_x, slope_y = np.empty(np.shape(x)), np.empty(np.shape(x))
        self.slopes(self.blur(gradient), *self.to_map(x, y), slope_x, slope_y)
        if self.scale != 1:
            slope_x /= self.scale
            slope_y /= self.scale
        return slope_x, slope_y

    def blur(self, image: Floats, out: Floats | None = None) -> Floats:
        """Return the image after the Gaussian blur; in ``out`` if given, which may be ``image``."""
        from evcrisp.kernels.contrast import blur

        if image.dtype.kind != "f":
            image = image.astype(np.float64)
        if self.footprint == "gaussian" or self.sigma_px < _SMALLEST_BLUR_PX:
            if out is image:
                return image
            out = np.empty_like(image) if out is None else out
            out[:] = image
            return out
        taps = gaussian_taps(self.sigma_px)
        radius = taps.size - 1
        out = np.empty_like(image) if out is None else out
        lines = np.zeros((2 * radius + 2, image.shape[1] + 2 * radius))
        blur.blur(image, taps, lines, out)
        return out

    def to_map(
        self, x: Floats, y: Floats, out: tuple[Floats, Floats] | None = None
    ) -> tuple[Floats, Floats]:
        """Return positions on the map, px of the map; in ``out`` if given, which may be (x, y).

        A pixel of a coarse map covers ``scale`` pixels of the sensor, and its center is theirs.
        """
        out_x, out_y = out or (None, None)
        if self.scale == 1:
            return np.add(x, self.padding_px, out=out_x), np.add(y, self.padding_px, out=out_y)
        # In this order the middle of the first pixels is exactly 0.
        x, y = (np.add(c, self.padding_px + 0.5, out=o) for c, o in ((x, out_x), (y, out_y)))
        x, y = np.divide(x, self.scale, out=out_x), np.divide(y, self.scale, out=out_y)
        return np.subtract(x, 0.5, out=out_x), np.subtract(y, 0.5, out=out_y)

    def accumulate(self, u: Floats, v: Floats, weight: Floats, votes: Floats) -> None:
        """Add events at positions on the map to ``votes``; no blur. A part of :meth:`build`."""
        check_lengths(x=u, y=v, weight=weight)
        kernel, extra = self._kernel("accumulate")
        whole = votes if votes.flags.c_contiguous else np.zeros(votes.shape)
        kernel(u, v, weight, *extra, whole)
        if whole is not votes:
            votes += whole

    def slopes(self, image: Floats, u: Floats, v: Floats, slope_u: Floats, slope_v: Floats) -> None:
        """Fill in the slope of a map at positions on it; no blur. A part of :meth:`pull_back`."""
        check_lengths(x=u, y=v, slope_x=slope_u, slope_y=slope_v)
        if self.footprint == "nearest":
            raise ConfigError(
                "Footprint 'nearest' has no gradient. Use 'bilinear' or 'spline', or a solver that "
                "needs none."
            )
        kernel, extra = self._kernel("slope")
        kernel(np.ascontiguousarray(image), u, v, *extra, slope_u, slope_v)

    def _kernel(self, action: str) -> tuple[Callable[..., None], tuple[Any, ...]]:
        """Return the compiled function, and its arguments between input and output."""
        from evcrisp.kernels.contrast import gaussian_splat, splat

        if self.footprint != "gaussian":
            return getattr(splat, f"{action}_{self.footprint}"), ()
        size = 2 * gaussian_radius(self.sigma_px) + 1
        scratch = (self.sigma_px, np.empty(size), np.empty(size))
        return getattr(gaussian_splat, f"{action}_gaussian"), scratch

    def _own(self, u: Floats, v: Floats, shape: tuple[int, ...]) -> Floats:
        check_lengths(x=u, y=v)
        values = np.empty(np.shape(u))
        kernel, extra = self._kernel("self_value")
        if self.footprint != "gaussian":
            taps = np.array([1.0, 0.0, 0.0])
            if self.sigma_px >= _SMALLEST_BLUR_PX:
                middle = gaussian_taps(self.sigma_px)[:3]
                taps[: middle.size] = middle
            extra = (taps,)
        kernel(u, v, *shape, *extra, values)
        return values
