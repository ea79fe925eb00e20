"""Density clustering: an event stays if it belongs to a crowd in space and time."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.held_events import Held, columns_by_polarity
from evcrisp.filters.protocol import About, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Dbscan:
    r"""Keep the events that density clustering (DBSCAN) does not call noise.

    An event is a core if ``min_events`` others lie in the ellipsoid
    :math:`(\Delta x^2 + \Delta y^2) / r^2 + \Delta t^2 / \tau^2 \le 1` around it, before and after.
    Cores stay, and so do events close to one. The score is the highest number of close events among
    the event and those close to it, plus a fraction below 1 that grows with its own number. Labels
    come 2 ``tau_us`` late.

    Parameters
    ----------
    radius : int
        Extent in space, px, 2 or more; with 1 the next pixels would be at the very edge.
    tau_us : int
        Extent in time, us.
    min_events : int
        How many other events make a core.
    same_pixel : bool
        Count events of the same pixel, too; a hot pixel then is a crowd.
    same_polarity : bool
        Cluster ON and OFF events apart.

    References
    ----------
    P. Zhang et al., "Neuromorphic imaging with density-based spatiotemporal denoising", IEEE Trans.
    Computational Imaging, 2023.
    """

    name: ClassVar[str] = "dbscan"
    about: ClassVar[About] = About(
        "Zhang et al. 2023",
        "13 pixels and their events of tau, twice",
        "2 numbers per pixel, the events of 3 tau",
        "The publication could not be read: plain DBSCAN, with events of the same pixel left out "
        "and ON and OFF apart; all constants are ours.",
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    radius: int = 2
    tau_us: int = 5_000
    min_events: int = 3
    same_pixel: bool = False
    same_polarity: bool = True

    def __post_init__(self) -> None:
        at_least("radius", self.radius, 2, most=100)
        at_least("tau_us", self.tau_us, 1)
        at_least("min_events", self.min_events, 1)

    def ellipsoid(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return pixels around as (row, column) from the corner, the own first, and reaches in us."""
        r, tau = self.radius, self.tau_us
        steps = range(-r, r + 1)
        around = sorted((dy * dy + dx * dx, dy, dx) for dy in steps for dx in steps)
        around = [place for place in around if place[0] <= r * r]
        reach = [math.isqrt(tau * tau * (r * r - d) // (r * r)) for d, _, _ in around]
        if not self.same_pixel:
            reach[0] = -1
        return np.array([(dy + r, dx + r) for _, dy, dx in around]), np.array(reach)

    def start(self, resolution: tuple[int, int]) -> "DbscanStream":
        """Begin a recording without earlier events."""
        return DbscanStream(self, resolution)


class DbscanStream:
    """The filter at work; events of one pixel are linked, newest first."""

    __slots__ = (
        "_config", "_count_head", "_held", "_offsets", "_reach", "_resolution", "_spread",
        "_spread_head",
    )  # fmt: skip

    def __init__(self, config: Dbscan, resolution: tuple[int, int]) -> None:
        self._config = config
        self._resolution = resolution
        border = 2 * config.radius
        sensors = 1 + config.same_polarity
        shape = (resolution[1] + border, sensors * (resolution[0] + border))
        self._count_head: NDArray[np.int64] = np.full(shape, -1, np.int64)
        self._spread_head: NDArray[np.int64] = np.full(shape, -1, np.int64)
        self._spread = 0  # number of the next event whose count is to be spread
        self._offsets, self._reach = config.ellipsoid()
        self._held = Held(
            x=np.int32, y=np.uint16, t=np.int64, older=np.int64, count=np.int64, highest=np.int64
        )

    def label(self, events: Events) -> Labels:
        """Take the next chunk; label the events whose neighbors are all known."""
        from evcrisp.kernels.filters.dbscan import count_close

        events = checked(events, self._resolution)
        if not len(events):
            return Labels.room(0)
        held, config = self._held, self._config
        start = len(held)
        x = columns_by_polarity(events, 2 * config.radius, apart=config.same_polarity)
        held.push(len(events), x=x, y=events.y, t=events.t, older=-1, count=0, highest=0)
        columns = (held["x"], held["y"], held["t"], start, held.first)
        links = (self._count_head, held["older"], self._offsets, self._reach)
        count_close(*columns, *links, held["count"])
        now = int(events.t[-1])
        counted, spread = np.searchsorted(
            held["t"], (now - config.tau_us, now - 2 * config.tau_us), side="left"
        )
        return self._labels(int(counted), int(spread))

    def finish(self) -> Labels:
        """Label the rest, after which nothing comes."""
        return self._labels(len(self._held), len(self._held))

    def _labels(self, counted: int, spread: int) -> Labels:
        """Spread the counts of the first ``counted`` events, and release the first ``spread``."""
        from evcrisp.kernels.filters.dbscan import spread_counts

        held, config = self._held, self._config
        start = self._spread - held.first
        columns = (held["x"], held["y"], held["t"], start, counted, held.first)
        links = (self._spread_head, held["older"], self._offsets, self._reach)
        spread_counts(*columns, *links, held["count"], held["highest"])
        self._spread = held.first + counted
        out = held.pop(spread)
        score = out["highest"] + out["count"] / (out["count"] + 1.0)
        return Labels(out["highest"] >= config.min_events, score)
