"""Background activity filters: keep events with a recent event at a neighboring pixel."""

from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.neighborhood.recent_neighbors import NeighborFilter
from evcrisp.filters.protocol import About, Presets

_EMLB = {"tau_us": 10_000, "same_polarity": True, "include_self": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Baf(NeighborFilter):
    r"""Keep an event if a neighboring pixel fired at most ``tau_us`` earlier.

    The event's own pixel does not count, so a hot pixel does not pass by itself. The score is
    :math:`\tau / (\tau + \mathrm{age})` of the newest neighboring event: at least 0.5 for kept
    events, 0 if no neighbor has fired.

    Parameters
    ----------
    tau_us : int
        Maximum age of the neighboring event, us.
    radius : int
        Maximum distance of the neighbor in x and in y, px.
    same_polarity : bool
        Count a neighbor only if its last event has the polarity of the event.
    include_self : bool
        Count the event's own pixel as a neighbor.
    cross : bool
        Count only neighbors in the row or the column of the event.
    drop_first : bool
        Drop the first event of each pixel.
    zero_start : bool
        Start as if each pixel had fired OFF at time 0, like programs that initialize with zeros.

    References
    ----------
    T. Delbruck, "Frame-free dynamic digital vision", Symp. on Secure-Life Electronics, 2008.
    """

    name: ClassVar[str] = "baf"
    about: ClassVar[About] = About(
        "Delbruck 2008", "8 pixels", "1 time per pixel", compared=("emlb", "kugamas", "dv")
    )
    presets: ClassVar[Presets] = {
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
