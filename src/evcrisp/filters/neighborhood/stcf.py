"""Spatio-temporal correlation filter: keep events with several recent neighbors."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.neighborhood.recent_neighbors import NeighborFilter
from evcrisp.filters.protocol import About, Presets


@dataclass(frozen=True, slots=True, kw_only=True)
class Stcf(NeighborFilter):
    r"""Keep an event if ``k`` neighboring pixels fired at most ``tau_us`` earlier.

    The event's own pixel does not count. The score is :math:`\tau / (\tau + \mathrm{age})` of the
    k-th newest neighboring event: at least 0.5 for kept events, 0 if fewer than ``k`` have fired.

    Parameters
    ----------
    k : int
        Number of neighbors that must be recent.
    pair_us : int
        Drop events up to this long after the other polarity at the pixel (shot noise), us; 0 = off.
    tau_us, radius, same_polarity, drop_first
        As in :class:`Baf`.

    References
    ----------
    Guo, Delbruck, "Low cost and latency event camera background activity denoising", PAMI, 2022.
    """

    name: ClassVar[str] = "stcf"
    about: ClassVar[About] = About(
        "Guo and Delbruck 2022", "8 pixels", "1 time per pixel and polarity"
    )
    presets: ClassVar[Presets] = {
        "jaer": {"tau_us": 24_999, "k": 2, "same_polarity": True, "drop_first": True},
    }

    tau_us: int = 10_000
    k: int = 2
    radius: int = 1
    same_polarity: bool = True
    pair_us: int = 0
    drop_first: bool = False
