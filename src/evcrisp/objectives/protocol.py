"""Protocol of objectives: sharpness of a contrast map, and its gradient."""

from typing import ClassVar, Protocol

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats


class Objective(Protocol):
    """A pure function of one contrast map; a frozen dataclass."""

    name: ClassVar[str]
    accepts_signed: ClassVar[bool]  # whether maps can have values below 0
    per_event: ClassVar[bool]  # whether maps of different events are compared per event
    is_positive: ClassVar[bool]  # whether it is 0 or more for every map of counts

    def value(self, iwe: Floats) -> float:
        """Return the sharpness of a map, shape (h, w); larger is sharper."""
        ...

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe, shape (h, w)."""
        ...

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given: float64, C-contiguous, can be ``iwe``."""
        ...


class KernelObjective:
    """Base of objectives that are computed by a pair of kernels, on float64 C-contiguous maps."""

    __slots__ = ()

    accepts_signed: ClassVar[bool] = True
    per_event: ClassVar[bool] = False
    is_positive: ClassVar[bool] = True

    def value(self, iwe: Floats) -> float:
        """Return the sharpness of a map, shape (h, w)."""
        return self._evaluate(np.ascontiguousarray(iwe, np.float64), False)

    def gradient(self, iwe: Floats) -> Floats:
        """Return d value / d iwe."""
        return self.value_and_gradient(iwe)[1]

    def value_and_gradient(self, iwe: Floats, out: Floats | None = None) -> tuple[float, Floats]:
        """Return both, the gradient in ``out`` if given, which may be ``iwe`` itself."""
        out = _copied(iwe, out)
        return self._evaluate(out, True), out

    def _evaluate(self, image: Floats, differentiate: bool) -> float:
        """Return the sharpness; ``differentiate`` replaces the map by the gradient."""
        raise NotImplementedError


def _copied(iwe: Floats, out: Floats | None) -> Floats:
    """Return the map in the array that receives its gradient."""
    if out is None:
        return np.array(iwe, np.float64, order="C")
    # Kernels write to a flat view, which is a copy if the array has gaps.
    if out.dtype != np.float64 or out.shape != np.shape(iwe) or not out.flags.c_contiguous:
        gaps = "" if out.flags.c_contiguous else ", with gaps or in another order"
        raise ConfigError(
            f"must be a C-contiguous float64 array of shape {np.shape(iwe)}; got {out.dtype} "
            f"of shape {out.shape}{gaps}",
            parameter="out",
            remedy="Leave it out and copy the gradient.",
        )
    if out is not iwe:
        out[...] = iwe
    return out
