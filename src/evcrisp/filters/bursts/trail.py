"""Trail filter of the Metavision SDK: the first event of a burst stays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    r"""Keep an event whose pixel was silent for ``tau_us``, or last fired with the other polarity.

    It thins the bursts that edges with contrast leave. Events that come alone, as noise does, all
    stay: use it to sharpen edges, before or after a filter against noise. The score of an event with
    the polarity of the one before is :math:`a / (a + \tau)` with the age :math:`a` of that one, at
    least 0.5 for kept events; of all others it is 1.

    Parameters
    ----------
    tau_us : int
        Shortest silence, us. The SDK has no default; its applications use 10 ms.

    Notes
    -----
    The preset "metavision" follows the SDK but for its rounding of times to 2 us.

    References
    ----------
    Prophesee, Metavision SDK, ``TrailFilterAlgorithm``.
    """

    name: ClassVar[str] = "trail"
    about: ClassVar[About] = About("Prophesee, Metavision SDK", "1 pixel", "1 number per pixel")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"metavision": {"tau_us": 10_000}}

    tau_us: int = 10_000

    def __post_init__(self) -> None:
        at_least("tau_us", self.tau_us, 1)

    def start(self, resolution: tuple[int, int]) -> "TrailStream":
        """Begin a recording in which no pixel has fired."""
        from evcrisp.kernels.filters.bursts import UNSEEN

        state = np.full(resolution[::-1], 4 * UNSEEN, np.int64)
        return TrailStream(self.tau_us, resolution, state)


@dataclass(frozen=True, slots=True, eq=False)
class TrailStream(Causal):
    """The filter at work."""

    tau_us: int
    resolution: tuple[int, int]
    state: NDArray[np.int64]  # (h, w), see the kernel

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.bursts import first_of_burst

        events = checked(events, self.resolution)
        labels = Labels.room(len(events))
        columns = (events.x, events.y, events.t, events.p.view(np.uint8))
        first_of_burst(*columns, self.state, self.tau_us, labels.signal, labels.score)
        return labels
