"""Event density with one time per pixel: keep events with enough recent pixels around."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.neighborhood.recent_neighbors import NeighborFilter
from evcrisp.filters.protocol import About, Presets


@dataclass(frozen=True, slots=True, kw_only=True)
class YNoise(NeighborFilter):
    r"""Keep an event if ``k`` pixels of the square around it, its own included, fired recently.

    The filter that E-MLB calls YNoise: the density of Feng et al., but only the last event of
    each pixel counts; :class:`Density` counts all events. The score is
    :math:`\tau / (\tau + \mathrm{age})` of the k-th newest.

    Parameters
    ----------
    k : int
        Number of pixels that must be recent.
    include_self : bool
        Count the event's own pixel; a hot pixel then passes with ``k=1``.
    tau_us, radius, same_polarity, zero_start
        As in :class:`Baf`.

    References
    ----------
    Feng et al., "Event density based denoising method for dynamic vision sensor", Appl. Sci., 2020.
    """

    name: ClassVar[str] = "ynoise"
    about: ClassVar[About] = About(
        "E-MLB, after Feng 2020", "9 pixels", "1 time per pixel and polarity", compared=("emlb",)
    )
    presets: ClassVar[Presets] = {
        "emlb": {"tau_us": 2_000, "k": 1, "radius": 1, "zero_start": True},
    }

    tau_us: int = 2_000
    k: int = 1
    radius: int = 1
    same_polarity: bool = True
    include_self: bool = True
    zero_start: bool = False
