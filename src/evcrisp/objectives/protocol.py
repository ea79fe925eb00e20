"""What an objective offers: a number for a contrast map, larger for sharper, and its gradient."""

from typing import ClassVar, Protocol

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats


class Objective(Protocol):
    """A pure function of one contrast map; a frozen dataclass."""

    name: ClassVar[str]
    accepts_signed: ClassVar[bool]  # whether maps with values below 0 make sense
    per_event: ClassVar[bool]  # whether maps of different events are compared per event
    is_positive: ClassVar[bool]  # whether it is 0 or more for every map of counts

    def value(self, iwe: Floats) -> float:
        """Return the statistic of a map, shape (h, w); larger is sharper."""
        ...

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe, shape (h, w)."""
        ...

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given, which may be ``iwe`` itself.

        ``out`` must be float64, C-contiguous and of the shape of the map.
        """
        ...


def pixels(image: Floats) -> Floats:
    """Return a map as one row of pixels for the kernels; a view, unless it has gaps."""
    return np.ascontiguousarray(image, np.float64).reshape(-1)


def copied(iwe: Floats, out: Floats | None) -> Floats:
    """Return the map in the array in which its gradient shall replace it."""
    if out is None:
        return np.array(iwe, np.float64, order="C")
    # Kernels write to one row of pixels, which is a copy where there are gaps.
    if out.dtype != np.float64 or out.shape != np.shape(iwe) or not out.flags.c_contiguous:
        gaps = "" if out.flags.c_contiguous else ", with gaps or in another order"
        raise ConfigError(
            f"`out` must be a C-contiguous float64 array of shape {np.shape(iwe)}; got {out.dtype} "
            f"of shape {out.shape}{gaps}. Leave it out and copy the gradient."
        )
    if out is not iwe:
        out[...] = iwe
    return out
