"""Spatio-temporal correlation filter: several neighboring pixels have to have fired lately."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.neighborhood.recent_neighbors import Supported
from evcrisp.filters.protocol import About


@dataclass(frozen=True, slots=True, kw_only=True)
class Stcf(Supported):
    r"""Keep an event if ``k`` of the pixels around fired at most ``tau_us`` earlier.

    The pixel itself does not count. The score is :math:`\tau / (\tau + \mathrm{age})` of the k-th
    newest supporting event: at least 0.5 for kept events, 0 with fewer than ``k`` of them.

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
    pair_us : int
        Drop an event at most so long after one of the other polarity of the same pixel: shot noise
        comes in such pairs. 0 = no such test.
    drop_first : bool
        Drop the first event of each pixel, whoever supports it.

    Notes
    -----
    The preset "jaer" has the parameters of jAER's filter, which wants an age below 25 ms. There the
    last column and row are not looked at from the pixels beside them; here they are.

    References
    ----------
    S. Guo, T. Delbruck, "Low cost and latency event camera background activity denoising",
    IEEE T-PAMI, 2022.
    """

    name: ClassVar[str] = "stcf"
    about: ClassVar[About] = About(
        "Guo and Delbruck 2022", "8 pixels", "1 time per pixel and polarity"
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "jaer": {"tau_us": 24_999, "k": 2, "same_polarity": True, "drop_first": True},
    }

    tau_us: int = 10_000
    k: int = 2
    radius: int = 1
    same_polarity: bool = True
    pair_us: int = 0
    drop_first: bool = False
