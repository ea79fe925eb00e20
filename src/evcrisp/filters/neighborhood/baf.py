"""Background activity filter: an event stays if a neighboring pixel fired a short time ago."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.neighborhood.recent_neighbors import Supported
from evcrisp.filters.protocol import About

_EMLB = {"tau_us": 10_000, "same_polarity": True, "include_self": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Baf(Supported):
    r"""Keep an event if one of the pixels around fired at most ``tau_us`` earlier.

    The pixel itself does not count, so that a hot pixel cannot support itself, and a pixel that
    never fired supports nobody. The score is :math:`\tau / (\tau + \mathrm{age})`, which is at least
    0.5 for kept events and 0 without any support.

    Parameters
    ----------
    tau_us : int
        Longest age of the supporting event, us.
    radius : int
        How far away it may be in x and in y, px.
    same_polarity : bool
        Count a pixel only if its last event had the polarity of this one.
    include_self : bool
        Let the earlier event of the same pixel support, too.
    cross : bool
        Look at the four nearest pixels only (with ``radius=1``).
    drop_first : bool
        Drop the first event of each pixel, whoever supports it.
    zero_start : bool
        Start as if each pixel had fired at time 0, as programs do whose arrays hold zeros.

    Notes
    -----
    Presets: "emlb" (also called "kugamas": the filter of E-MLB's first version), "dv"
    (dv-processing), "metavision" (its activity filter) and "tonic" follow what these programs do;
    "jaer" follows jAER's sources. Where a program wants an age *below* its limit, the preset has the
    limit minus 1 us, which is the same for whole microseconds.

    References
    ----------
    T. Delbruck, "Frame-free dynamic digital vision", Intl. Symp. on Secure-Life
    Electronics, 2008.
    """

    name: ClassVar[str] = "baf"
    about: ClassVar[About] = About("Delbruck 2008", "8 pixels", "1 time per pixel")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "emlb": _EMLB,
        "kugamas": _EMLB,
        "dv": {"tau_us": 1_999, "zero_start": True},
        "jaer": {"tau_us": 24_999, "drop_first": True},
        "metavision": {"tau_us": 10_000},
        "tonic": {"tau_us": 9_999, "cross": True, "zero_start": True},
    }

    tau_us: int = 5_000
    radius: int = 1
    same_polarity: bool = False
    include_self: bool = False
    cross: bool = False
    drop_first: bool = False
    zero_start: bool = False
