"""Event density: keep events in a dense neighborhood."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, CausalStream, Filter, Labels, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class Density(Filter):
    r"""Keep an event with ``k`` events around it, if a neighboring pixel has such an event too.

    The two stages of Feng et al. The first counts all events of the square within ``tau_us``,
    several per pixel. The second requires that another pixel of the 3x3 around had an event that
    passed the first stage within the same time, which removes hot pixels. The score is
    :math:`d / (d + k)` with :math:`d` events around, and 0 for events that the second stage drops.

    Parameters
    ----------
    tau_us : int
        Maximum age of the events, us.
    k : int
        Minimum number of events.
    radius : int
        Maximum distance of the events in x and in y, px.
    fine : bool
        Apply the second stage.
    include_self : bool
        Count the event itself.

    References
    ----------
    Feng et al., "Event density based denoising method for dynamic vision sensor", Appl. Sci., 2020.
    """

    name: ClassVar[str] = "density"
    about: ClassVar[About] = About(
        "Feng 2020",
        "25 + 9 pixels",
        "1 count per pixel, events of tau_us",
        reconstruction="Programs that follow the paper differ on whether the event counts itself, "
        "and on the time of the second stage.",
    )
    # It is causal, but `track` starts it anew in each window, which its labels depend on.
    is_causal: ClassVar[bool] = False

    tau_us: int = 5_000
    k: int = 3
    radius: int = 2
    fine: bool = True
    include_self: bool = True

    def __post_init__(self) -> None:
        check_minimum(self, tau_us=1, k=1)
        check_number("radius", self.radius, 1, 100)

    def start(self, resolution: tuple[int, int]) -> "DensityStream":
        """Start a recording."""
        return DensityStream(self, resolution)


class DensityStream(CausalStream):
    """State of the filter: a count per pixel, and the events of the last ``tau_us``."""

    def __init__(self, config: Density, resolution: tuple[int, int]) -> None:
        super().__init__(resolution)
        (width, height), border = resolution, 2 * config.radius
        self._counts = np.zeros((height + border, width + border), np.int64)
        flags = (int(config.fine), int(config.include_self))
        self._rule = (config.k, config.tau_us, config.radius, *flags)
        # Time in us, index into the counts, and increment of each event that still counts.
        self._old: tuple[NDArray[np.int64], ...] = (np.empty(0, np.int64),) * 3

    def fill(self, events: Events, labels: Labels) -> None:
        """Label a chunk and store its events."""
        from evcrisp.kernels.filters.density.density import event_density

        increment = np.empty(len(events), np.int64)
        columns = (events.x, events.y, events.t, *self._old, self._counts, self._rule)
        n_expired = event_density(*columns, increment, labels.signal, labels.score)
        radius = self._rule[2]
        new = slice(max(n_expired - self._old[0].size, 0), None)
        rows = events.y[new].astype(np.int64) + radius
        index = rows * self._counts.shape[1] + events.x[new] + radius
        added = (events.t[new], index, increment[new])
        self._old = tuple(
            np.concatenate([old[n_expired:], more])
            for old, more in zip(self._old, added, strict=True)
        )
