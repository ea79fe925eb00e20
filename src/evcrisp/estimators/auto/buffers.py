"""Arrays of a thread that outlive a window: fresh memory costs more than its use."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats, Singles
from evcrisp.motion import PreparedWarp
from evcrisp.search.buffers import Workspace

#: Arrays with a longer side than this are not kept for the next window.
_MOST_KEPT = 4_000_000

_WORKSPACE = Workspace()


def scratch(name: str, *shape: int, dtype: type = np.float64) -> NDArray[Any]:
    """Return an array of this thread by name, unless the window is huge: its memory is given back."""
    if max(shape) > _MOST_KEPT:
        return np.empty(shape, dtype)
    return _WORKSPACE.array(name, dtype, *shape)


def scratch_singles(name: str, *shape: int) -> Singles:
    """Return the same in single precision: support is no more certain than that by far."""
    return scratch(name, *shape, dtype=np.float32)


def places_in_window(warp: PreparedWarp, duration_s: float, theta: Floats, name: str) -> Singles:
    """Return where a warp for one second takes its pixels in a window of another length, (2, n)."""
    n = len(warp)
    dt = np.multiply(warp.dt, duration_s, out=scratch(f"{name} dt", n))
    places = scratch_singles(f"{name} places", 2, n)
    warp.of(warp.x, warp.y, dt).fill(theta, *places)
    return places
