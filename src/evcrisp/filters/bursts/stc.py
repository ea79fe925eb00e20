"""Spatio-temporal contrast filter of the Metavision SDK: the second event of a burst stays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Stc:
    r"""Keep an event that repeats the last one of its pixel within ``tau_us``.

    An edge with contrast makes a pixel fire several times with one polarity; noise seldom does. The
    first event of such a burst is dropped, the second one stays, and with ``cut_trail`` the rest of
    the burst is dropped until the polarity changes. The score of events that may stay is
    :math:`\tau / (\tau + \mathrm{age})`, at least 0.5 for kept ones, a quarter of that for the trail,
    and 0 for the first event of a burst.

    Parameters
    ----------
    tau_us : int
        Longest time since the last event of the pixel, us. The SDK has no default; its
        applications use 10 ms.
    cut_trail : bool
        Keep the second event of a burst only.
    off_start : bool
        Start as if every pixel had fired OFF and been kept, as the SDK does: the first burst of a
        pixel is lost if it is OFF and its trail is cut.

    Notes
    -----
    The preset "metavision" follows the SDK but for its rounding of times to 4 us.

    References
    ----------
    Prophesee, Metavision SDK, ``SpatioTemporalContrastAlgorithm``.
    """

    name: ClassVar[str] = "stc"
    about: ClassVar[About] = About("Prophesee, Metavision SDK", "1 pixel", "1 number per pixel")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "metavision": {"tau_us": 10_000, "off_start": True}
    }

    tau_us: int = 10_000
    cut_trail: bool = True
    off_start: bool = False

    def __post_init__(self) -> None:
        at_least("tau_us", self.tau_us, 1)

    def start(self, resolution: tuple[int, int]) -> "StcStream":
        """Begin a recording in which no pixel has fired."""
        from evcrisp.kernels.filters.bursts import ARMED, UNSEEN

        has_passed = self.off_start and self.cut_trail
        first = 4 * UNSEEN + (0 if has_passed else ARMED)
        return StcStream(self, resolution, np.full(resolution[::-1], first, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class StcStream(Causal):
    """The filter at work."""

    config: Stc
    resolution: tuple[int, int]
    state: NDArray[np.int64]  # (h, w), see the kernel

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.bursts import second_of_burst

        events = checked(events, self.resolution)
        labels = Labels.room(len(events))
        columns = (events.x, events.y, events.t, events.p.view(np.uint8))
        rule = (self.config.tau_us, self.config.cut_trail)
        second_of_burst(*columns, self.state, *rule, labels.signal, labels.score)
        return labels
