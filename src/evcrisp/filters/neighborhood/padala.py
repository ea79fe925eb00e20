"""Refractory period, then nearest neighbor: drop quick repetitions, then events without support."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.checks import at_least
from evcrisp.filters.neighborhood.recent_neighbors import Supported
from evcrisp.filters.protocol import About

_EMLB = {"refractory_us": 3_000, "tau_us": 10_000, "same_polarity": True, "include_self": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Padala(Supported):
    r"""Keep an event that comes late enough after the last of its pixel, and has a neighbor.

    The score is :math:`\tau / (\tau + \mathrm{age})` of the newest event of the pixels around, and 0
    for an event within the refractory period.

    Parameters
    ----------
    refractory_us : int
        Drop an event at most so long after the last one of its pixel, kept or not, us.
    tau_us : int
        Longest age of the supporting event, us.
    same_polarity : bool
        Count a pixel only if its last event had the polarity of this one.
    include_self : bool
        Let the earlier event of the same pixel support, too.

    Notes
    -----
    The preset "emlb" (also called "kugamas") gives the labels of the filter NN of E-MLB's first
    version.

    References
    ----------
    V. Padala, A. Basu, G. Orchard, "A noise filtering algorithm for event-based asynchronous change
    detection image sensors on TrueNorth and its implementation on TrueNorth", Frontiers in
    Neuroscience, 2018.
    """

    name: ClassVar[str] = "padala"
    about: ClassVar[About] = About(
        "Padala 2018",
        "9 pixels",
        "1 time per pixel",
        reconstruction="The structure of the paper as E-MLB's first version has it.",
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"emlb": _EMLB, "kugamas": _EMLB}

    refractory_us: int = 3_000
    tau_us: int = 10_000
    same_polarity: bool = False
    include_self: bool = False

    def __post_init__(self) -> None:
        at_least("refractory_us", self.refractory_us, 1)
        Supported.__post_init__(self)
