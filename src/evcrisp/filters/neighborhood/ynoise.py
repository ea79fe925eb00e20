"""Event density with one time per pixel: how many pixels around fired lately."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.neighborhood.recent_neighbors import Supported
from evcrisp.filters.protocol import About


@dataclass(frozen=True, slots=True, kw_only=True)
class YNoise(Supported):
    r"""Keep an event if ``k`` pixels of the square around it, its own included, fired lately.

    This is what the E-MLB benchmark calls YNoise: the density of Feng et al., but with the last
    event of each pixel in place of all events; :class:`Density` counts them all. The score is
    :math:`\tau / (\tau + \mathrm{age})` of the k-th newest.

    Parameters
    ----------
    tau_us : int
        Longest age of the supporting events, us.
    k : int
        How many pixels have to support.
    radius : int
        How far away they may be in x and in y, px.
    same_polarity : bool
        Count a pixel only if its last event had the polarity of this one.
    include_self : bool
        Let the earlier event of the same pixel support, too; a hot pixel then passes with ``k=1``.
    zero_start : bool
        Start as if each pixel had fired OFF at time 0.

    Notes
    -----
    The preset "emlb" gives the labels of E-MLB's program. With ``k=1`` and the same ``tau_us`` they
    are those of its BAF.

    References
    ----------
    Y. Feng et al., "Event density based denoising method for dynamic vision sensor",
    Applied Sciences, 2020.
    """

    name: ClassVar[str] = "ynoise"
    about: ClassVar[About] = About(
        "E-MLB, after Feng 2020", "9 pixels", "1 time per pixel and polarity"
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "emlb": {"tau_us": 2_000, "k": 1, "radius": 1, "zero_start": True},
    }

    tau_us: int = 2_000
    k: int = 1
    radius: int = 1
    same_polarity: bool = True
    include_self: bool = True
    zero_start: bool = False
