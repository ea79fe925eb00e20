"""Recipe of a contrast map: footprint of an event, blur, padding, scale."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.event_columns import check_lengths
from evcrisp.core.registry import lookup
from evcrisp.core.types import Bools, Floats
from evcrisp.core.validation import check_number

#: Footprints of an event by name, with a description.
FOOTPRINTS: dict[str, str] = {
    "nearest": "one pixel; no gradient",
    "bilinear": "a tent over four pixels",
    "spline": "a quadratic B-spline over nine pixels, sigma 0.5; continuous gradient",
    "gaussian": "a Gaussian of sigma_px, cut off at four sigma, without further blur; slow",
}

#: Uses of the polarity by name, with a description.
POLARITIES: dict[str, str] = {
    "unsigned": "one map of all events",
    "separate": "one map of the ON events and one of the OFF events",
    "signed": "one map; OFF events have negative weights",
}

#: Smaller blurs are skipped: their weight on the neighboring pixels is 0.
_SMALLEST_BLUR_PX = 0.1

#: Radius of filters, in sigmas; 6e-5 of the weight of a Gaussian lies outside.
REACH_SIGMAS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastMap:
    r"""Recipe of the image of warped events, the paper's contrast map.

    .. math:: M(\mathbf{u}) = \sum_k w_k \, (\phi * g_\sigma)(\mathbf{u} - \mathbf{x}'_k),

    with the footprint :math:`\phi` and a Gaussian blur :math:`g_\sigma`; eqs. (8) to (13) of
    ``docs/theory/math.md``. Outside the padded map all values are 0. Events whose footprint is not
    fully inside (for "gaussian": whose nearest pixel is not inside) are skipped, and samples there
    are 0. The same holds for positions that are not finite. Pixel centers lie at integers.

    Parameters
    ----------
    footprint : {"bilinear", "spline", "gaussian", "nearest"}
        Contribution of one event before the blur.
    sigma_px : float, px of the map
        Sigma of the blur; 0 for none. The total kernel has sigma ``sqrt(sigma_px**2 + s**2)`` with
        s = 0.41 (bilinear) or 0.5 (spline). For the footprint "gaussian" it is the sigma of the
        footprint, 0.5 to 10, and no blur follows.
    padding_px : int, px of the sensor
        Border around the sensor, where events still count. Means over the map include it.
    scale : int
        Pixels of the sensor per pixel of the map, along each axis.

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
        if self.footprint == "gaussian":
            remedy = "For other blurs, use the footprint 'bilinear' or 'spline'."
            check_number("sigma_px", self.sigma_px, 0.5, 10, remedy=remedy)
        check_number("sigma_px", self.sigma_px, 0, 100)
        check_number("padding_px", self.padding_px, 0, 4096, whole=True)
        check_number("scale", self.scale, 1, 64, whole=True)

    def shape(self, resolution: tuple[int, int]) -> tuple[int, int]:
        """Return ``(height, width)`` of the map of a sensor, padding included."""
        if min(resolution) < 1:
            problem = "must be (width, height) in px"
            raise ConfigError(problem, parameter="resolution", value=resolution)
        width, height = (
            math.ceil((side + 2 * self.padding_px) / self.scale) for side in resolution
        )
        # A spline needs 4 pixels, even for a sensor of one pixel.
        return max(height, 4), max(width, 4)

    def build(self, x: Floats, y: Floats, weight: Floats, resolution: tuple[int, int]) -> Floats:
        """Return the map of events at warped positions, px of the sensor, shape :meth:`shape`."""
        iwe = np.zeros(self.shape(resolution))
        self.accumulate(*self.to_map(x, y), weight, iwe)
        return self.blur(iwe, out=iwe)

    def sample(self, image: Floats, x: Floats, y: Floats) -> Floats:
        """Return a map at positions, weighted by the footprint, shape (n,); 0 outside."""
        check_lengths(x=x, y=y)
        values = np.empty(np.shape(x))
        kernel, extra = self._kernel("sample")
        kernel(np.ascontiguousarray(image), *self.to_map(x, y), *extra, values)
        return values

    def self_value(self, x: Floats, y: Floats, resolution: tuple[int, int] | None = None) -> Floats:
        """Return the contribution of one event of weight 1 to its own sample, shape (n,).

        :meth:`leave_one_out` subtracts it from :meth:`sample`. With ``resolution`` it is 0 outside
        the map, like :meth:`sample`; without, the map is unbounded.
        """
        u, v = self.to_map(x, y)
        if resolution is not None:
            return self._self_values(u, v, self.shape(resolution))
        # Far from a border, only the subpixel position matters.
        side = 2 * gaussian_radius(self.sigma_px) + 4
        with np.errstate(invalid="ignore"):
            u, v = (side + (position - np.floor(position)) for position in (u, v))
        return self._self_values(u, v, (2 * side, 2 * side))

    def leave_one_out(
        self, image: Floats, x: Floats, y: Floats, weight: Floats | float = 1.0
    ) -> Floats:
        """Return samples of the map of these events without their own part, (n,); 0 outside."""
        own = self._self_values(*self.to_map(x, y), image.shape)
        return self.sample(image, x, y) - weight * own

    def pull_back(self, gradient: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the gradient by positions x and y of events of weight 1.

        ``gradient`` is d value / d map. It is blurred with the same kernel, which is its own
        adjoint, and its slope is sampled at each event.
        """
        slope_x, slope_y = np.empty(np.shape(x)), np.empty(np.shape(x))
        self.slopes(self.blur(gradient), *self.to_map(x, y), slope_x, slope_y)
        if self.scale != 1:
            slope_x /= self.scale
            slope_y /= self.scale
        return slope_x, slope_y

    def blur(self, image: Floats, out: Floats | None = None) -> Floats:
        """Return the blurred image, in ``out`` if given, which may be ``image``."""
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
        """Convert positions to px of the map, optionally in place.

        The center of a pixel of a coarse map is the center of the sensor pixels that it covers.
        """
        out_x, out_y = out or (None, None)
        if self.scale == 1:
            return np.add(x, self.padding_px, out=out_x), np.add(y, self.padding_px, out=out_y)
        # In this order, the center of the first pixel is exactly 0.
        x, y = (np.add(c, self.padding_px + 0.5, out=o) for c, o in ((x, out_x), (y, out_y)))
        x, y = np.divide(x, self.scale, out=out_x), np.divide(y, self.scale, out=out_y)
        return np.subtract(x, 0.5, out=out_x), np.subtract(y, 0.5, out=out_y)

    def accumulate(self, u: Floats, v: Floats, weight: Floats, image: Floats) -> None:
        """Add events at positions on the map to ``image``, without blur."""
        check_lengths(x=u, y=v, weight=weight)
        kernel, extra = self._kernel("accumulate")
        whole = image if image.flags.c_contiguous else np.zeros(image.shape)
        kernel(u, v, weight, *extra, whole)
        if whole is not image:
            image += whole

    def slopes(self, image: Floats, u: Floats, v: Floats, slope_u: Floats, slope_v: Floats) -> None:
        """Fill in the slopes of a map at positions on it, without blur."""
        check_lengths(x=u, y=v, slope_x=slope_u, slope_y=slope_v)
        if self.footprint == "nearest":
            raise ConfigError(
                "Footprint 'nearest' has no gradient.",
                remedy="Use 'bilinear' or 'spline', or a solver without gradients.",
            )
        kernel, extra = self._kernel("slope")
        kernel(np.ascontiguousarray(image), u, v, *extra, slope_u, slope_v)

    def _kernel(self, action: str) -> tuple[Callable[..., None], tuple[Any, ...]]:
        """Return a kernel, and its arguments between input and output."""
        from evcrisp.kernels.contrast import gaussian_splat, splat

        if self.footprint != "gaussian":
            return getattr(splat, f"{action}_{self.footprint}"), ()
        size = 2 * gaussian_radius(self.sigma_px) + 1
        extra = (self.sigma_px, np.empty(size), np.empty(size))
        return getattr(gaussian_splat, f"{action}_gaussian"), extra

    def _self_values(self, u: Floats, v: Floats, shape: tuple[int, ...]) -> Floats:
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


def gaussian_radius(sigma_px: float) -> int:
    """Return the radius of a Gaussian filter, px."""
    return max(1, math.ceil(REACH_SIGMAS * sigma_px))


@lru_cache(maxsize=64)
def gaussian_taps(sigma_px: float) -> Floats:
    """Return half of a Gaussian filter, the center first; all taps sum to 1.

    >>> [round(float(tap), 4) for tap in gaussian_taps(0.5)]
    [0.7866, 0.1065, 0.0003]
    """
    radius = gaussian_radius(sigma_px)
    taps = np.exp(-0.5 * (np.arange(radius + 1) / sigma_px) ** 2)
    taps /= taps[0] + 2.0 * taps[1:].sum()
    taps.flags.writeable = False
    return taps


def channel_weights(
    p: Bools, polarity: str = "unsigned", weight: Floats | None = None
) -> tuple[Floats, ...]:
    """Return the weights of the events on each map, shape (n,) per map.

    Parameters
    ----------
    p : ndarray of bool, shape (n,)
        Polarity, True = ON.
    polarity : {"unsigned", "separate", "signed"}
        Use of the polarity; of two maps, ON comes first.
    weight : ndarray, shape (n,), optional
        Weight of each event; 1 by default.

    Examples
    --------
    >>> p = np.array([True, False, True])
    >>> [channel.tolist() for channel in channel_weights(p, "separate")]
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    >>> [channel.tolist() for channel in channel_weights(p, "signed", np.array([1.0, 0.5, 0.0]))]
    [[1.0, -0.5, 0.0]]
    """
    lookup(POLARITIES, polarity, "polarity")
    weight = np.ones(p.shape) if weight is None else np.array(weight, np.float64)
    if polarity == "separate":
        return np.where(p, weight, 0.0), np.where(p, 0.0, weight)
    if polarity == "signed":
        return (np.where(p, weight, -weight),)
    return (weight,)


def event_peak(contrast: ContrastMap) -> float:
    """Return the map value of a single event at its own position, at the center of a pixel."""
    middle = np.zeros(1) if contrast.scale == 1 else np.full(1, (contrast.scale - 1) / 2)
    return float(contrast.self_value(middle - contrast.padding_px, middle - contrast.padding_px)[0])
