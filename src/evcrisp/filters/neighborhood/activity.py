"""Activity filter of the Metavision SDK: background activity by another name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from evcrisp.filters.neighborhood.recent_neighbors import Support, SupportStream
from evcrisp.filters.protocol import About


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    r"""Keep an event if one of its eight neighbors fired at most ``tau_us`` earlier.

    This is the background activity filter with the rule and the usual time of the Metavision SDK:
    any polarity, an age equal to the limit counts, the pixel itself does not. The score is
    :math:`\tau / (\tau + \mathrm{age})`, at least 0.5 for kept events.

    Parameters
    ----------
    tau_us : int
        Longest age of the supporting event, us. The SDK has no default; its applications use 10 ms.

    References
    ----------
    Prophesee, Metavision SDK, ``ActivityNoiseFilterAlgorithm``.
    """

    name: ClassVar[str] = "activity"
    about: ClassVar[About] = About("Prophesee, Metavision SDK", "8 pixels", "1 time per pixel")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"metavision": {}}

    tau_us: int = 10_000

    def __post_init__(self) -> None:
        self._support()

    def start(self, resolution: tuple[int, int]) -> SupportStream:
        """Begin a recording in which no pixel has fired."""
        return self._support().start(resolution)

    def _support(self) -> Support:
        return Support(tau_us=self.tau_us)
