"""Event density: enough events around an event, one of them dense itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.protocol import About, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Density:
    r"""Keep an event with ``k`` events around it, if a neighboring pixel has such an event, too.

    Both stages of Feng et al.: first all events of the square within ``tau_us`` are counted, several
    per pixel; then an event stays only if another pixel of the 3x3 around it had an event that
    passed the first stage, within the same time, which removes hot pixels. The score is
    :math:`d / (d + k)` with :math:`d` events around, and 0 if the second stage drops the event.

    Parameters
    ----------
    tau_us : int
        Longest age of the events, us.
    k : int
        How many events have to be around.
    radius : int
        Half the size of the square, px.
    fine : bool
        Apply the second stage.
    include_self : bool
        Count the event itself as one of those around.

    References
    ----------
    Y. Feng et al., "Event density based denoising method for dynamic vision sensor",
    Applied Sciences, 2020.
    """

    name: ClassVar[str] = "density"
    about: ClassVar[About] = About(
        "Feng 2020",
        "25 + 9 pixels",
        "1 count per pixel, events of tau_us",
        reconstruction="Whether the event counts itself, and how long the second stage looks back, "
        "differs between programs that follow the paper.",
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    tau_us: int = 5_000
    k: int = 3
    radius: int = 2
    fine: bool = True
    include_self: bool = True

    def __post_init__(self) -> None:
        for name in ("tau_us", "k", "radius"):
            at_least(name, getattr(self, name), 1)
        at_least("radius", self.radius, 1, most=100)

    def start(self, resolution: tuple[int, int]) -> "DensityStream":
        """Begin a recording in which no event has come."""
        width, height = resolution
        border = 2 * self.radius
        counts = np.zeros((height + border, width + border), np.int64)
        rule = (self.k, self.tau_us, self.radius, int(self.fine), int(self.include_self))
        return DensityStream(resolution, counts, rule)


class DensityStream:
    """The filter at work; remembers the events of the last ``tau_us``."""

    def __init__(
        self,
        resolution: tuple[int, int],
        counts: NDArray[np.int64],  # (h + 2 r, w + 2 r)
        rule: tuple[int, int, int, int, int],
    ) -> None:
        self._resolution = resolution
        self._counts = counts
        self._rule = rule
        self._old_t = np.empty(0, np.int64)  # us
        self._old_at = np.empty(0, np.int64)  # places in counts
        self._old_worth = np.empty(0, np.int64)  # what they add there

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.density import event_density

        events = checked(events, self._resolution)
        labels = Labels.room(len(events))
        worth = np.empty(len(events), np.int64)
        old = (self._old_t, self._old_at, self._old_worth)
        columns = (events.x, events.y, events.t, *old, self._counts, self._rule)
        n_gone = event_density(*columns, worth, labels.signal, labels.score)
        self._remember(events, worth, n_gone)
        return labels

    def _remember(self, events: Events, worth: NDArray[np.int64], n_gone: int) -> None:
        radius = self._rule[2]
        new = slice(max(n_gone - self._old_t.size, 0), None)
        rows = events.y[new].astype(np.int64) + radius
        at = rows * self._counts.shape[1] + events.x[new] + radius
        self._old_t = np.concatenate([self._old_t[n_gone:], events.t[new]])
        self._old_at = np.concatenate([self._old_at[n_gone:], at])
        self._old_worth = np.concatenate([self._old_worth[n_gone:], worth[new]])

    def finish(self) -> Labels:
        """Return nothing: no label was held back."""
        return Labels.room(0)
