"""Activity filter of the Metavision SDK."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.neighborhood.recent_neighbors import NeighborFilter
from evcrisp.filters.protocol import About, Presets


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity(NeighborFilter):
    r"""Keep an event if one of its eight neighbors fired at most ``tau_us`` earlier.

    The background activity filter (:class:`Baf`) with the default time of Metavision programs.
    The score is :math:`\tau / (\tau + \mathrm{age})`, at least 0.5 for kept events.

    Parameters
    ----------
    tau_us : int
        Maximum age of the neighboring event, us. The SDK has no default; its programs use 10 ms.

    References
    ----------
    Prophesee, Metavision SDK, ``ActivityNoiseFilterAlgorithm``.
    """

    name: ClassVar[str] = "activity"
    about: ClassVar[About] = About("Prophesee, Metavision SDK", "8 pixels", "1 time per pixel")
    presets: ClassVar[Presets] = {"metavision": {}}

    tau_us: int = 10_000
