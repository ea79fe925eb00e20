"""Refractory period, then nearest neighbor."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.neighborhood.recent_neighbors import NeighborFilter
from evcrisp.filters.protocol import About, Presets, check_minimum

_EMLB = {"refractory_us": 3_000, "tau_us": 10_000, "same_polarity": True, "include_self": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Padala(NeighborFilter):
    r"""Keep an event after the refractory period of its pixel that has a recent neighbor.

    The score is :math:`\tau / (\tau + \mathrm{age})` of the newest neighbor; 0 within the period.

    Parameters
    ----------
    refractory_us : int
        Drop an event up to this long after any event of its pixel, us.
    tau_us, same_polarity, include_self
        As in :class:`Baf`.

    References
    ----------
    V. Padala et al., "A noise filtering algorithm for event-based asynchronous change detection
    image sensors on TrueNorth and its implementation on TrueNorth", Front. Neuroscience, 2018.
    """

    name: ClassVar[str] = "padala"
    about: ClassVar[About] = About(
        "Padala 2018",
        "9 pixels",
        "1 time per pixel",
        reconstruction="The structure follows the first version of E-MLB.",
        compared=("kugamas",),
    )
    presets: ClassVar[Presets] = {"emlb": _EMLB, "kugamas": _EMLB}

    refractory_us: int = 3_000
    tau_us: int = 10_000
    same_polarity: bool = False
    include_self: bool = False

    def __post_init__(self) -> None:
        check_minimum(self, refractory_us=1)
        NeighborFilter.__post_init__(self)
