"""Contrast maps of a window before and after alignment, with the kernel of the method."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.hot_pixels import hot_events

Positions = tuple[Floats, Floats]

#: Kernel of the search for motions, sigma 1 px: for methods that state no contrast map. A narrower
#: kernel rewards events at whole pixels, so that alignment would seem to lose contrast.
SEARCH_MAP = ContrastMap(footprint="spline", sigma_px=0.866)

#: Map of confidences: a small blur closes gaps between pixels and keeps edges sharp.
FINE_MAP = ContrastMap(footprint="bilinear", sigma_px=0.5, padding_px=0)


def map_of_method(method: Any) -> ContrastMap:
    """Return the contrast map that a method maximizes, with the resolution of the sensor.

    >>> from evcrisp.estimators import Cmax
    >>> map_of_method(Cmax()).sigma_px, map_of_method(object()).sigma_px
    (1.0, 0.866)
    """
    for owner in (method, getattr(method, "align", None)):
        contrast = getattr(owner, "contrast", None)
        if isinstance(contrast, ContrastMap):
            return replace(contrast, scale=1)
    return SEARCH_MAP


@dataclass(frozen=True, slots=True)
class ContrastFacts:
    """Maps of one byte per pixel, all in one scale, and their variances."""

    images: dict[str, NDArray[np.uint8]]
    facts: dict[str, Any]

    @classmethod
    def of(
        cls, events: Events, signal: Bools, aligned: Positions, contrast: ContrastMap
    ) -> "ContrastFacts":
        """Build the maps before and after alignment, and that of kept events.

        Hot pixels are left out, as in the methods: alignment blurs what does not move.
        """
        used = (~hot_events(events)).astype(np.float64)
        raw = events.x.astype(np.float64), events.y.astype(np.float64)
        size = events.resolution
        maps = {
            "before": contrast.build(*raw, used, size),
            "after": contrast.build(*aligned, used, size),
            "kept": contrast.build(*aligned, used * signal, size),
        }
        border = contrast.padding_px
        shown = {
            name: image[border : border + size[1], border : border + size[0]]
            for name, image in maps.items()
        }
        top = max(float(np.quantile(shown["after"], 0.998)), 1e-3)
        images = {f"map_{name}": quantized(image / top).ravel() for name, image in shown.items()}
        variances = {name: float(image.var()) for name, image in maps.items()}
        return cls(images, {"map_top": top, "variance": variances, "kernel": kernel_name(contrast)})


def kernel_name(contrast: ContrastMap) -> str:
    """Return the kernel of a map in words.

    >>> kernel_name(SEARCH_MAP)
    'spline with a blur of 0.866 px'
    """
    if contrast.footprint == "gaussian":
        return f"gaussian of {contrast.sigma_px:g} px"
    return f"{contrast.footprint} with a blur of {contrast.sigma_px:g} px"


def mean_confidence(aligned: Positions, confidence: Floats, size: tuple[int, int]) -> Floats:
    """Return the mean confidence of the events around each pixel; 0 without events."""
    weights, sums = (
        FINE_MAP.build(*aligned, values, size)[: size[1], : size[0]]
        for values in (np.ones(confidence.size), confidence)
    )
    return np.where(weights > 0.05, sums / np.maximum(weights, 0.05), 0.0)


def quantized(values: Floats) -> NDArray[np.uint8]:
    """Return values from 0 to 1 as bytes."""
    return np.rint(255.0 * np.clip(np.nan_to_num(values), 0.0, 1.0)).astype(np.uint8)
