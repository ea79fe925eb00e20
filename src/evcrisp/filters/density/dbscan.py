"""Density-based clustering (DBSCAN): keep events that belong to a cluster in space and time."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Integers
from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, Filter, HeldEvents, Labels, check_minimum, check_sensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Dbscan(Filter):
    r"""Keep the events that density-based clustering (DBSCAN) does not label as noise.

    Neighbors of an event lie in the ellipsoid
    :math:`(\Delta x^2 + \Delta y^2) / r^2 + \Delta t^2 / \tau^2 \le 1` around it, before and after.
    An event with ``min_events`` neighbors is a core. Cores and their neighbors are kept. The score
    is the highest number of neighbors among the event and its neighbors, plus a fraction below 1
    that grows with its own number. Labels are 2 ``tau_us`` late.

    Parameters
    ----------
    radius : int
        Extent in space, px, 2 or more; with 1 adjacent pixels would be exactly on the boundary.
    tau_us : int
        Extent in time, us.
    min_events : int
        Minimum number of neighbors of a core.
    same_pixel : bool
        Count events of the same pixel (a hot pixel is then a cluster).
    same_polarity : bool
        Cluster ON and OFF apart.

    References
    ----------
    Zhang et al., "Neuromorphic imaging with density-based spatiotemporal denoising", TCI, 2023.
    """

    name: ClassVar[str] = "dbscan"
    about: ClassVar[About] = About(
        "Zhang et al. 2023",
        "13 pixels and their events of tau, twice",
        "2 numbers per pixel, the events of 3 tau",
        "The publication was not available: plain DBSCAN, without events of the same pixel, ON and "
        "OFF separate; all constants are choices of evcrisp.",
    )
    is_causal: ClassVar[bool] = False

    radius: int = 2
    tau_us: int = 5_000
    min_events: int = 3
    same_pixel: bool = False
    same_polarity: bool = True

    def __post_init__(self) -> None:
        check_number("radius", self.radius, 2, 100)
        check_minimum(self, tau_us=1, min_events=1)

    def ellipsoid(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return pixels as (row, column) offsets, the event's own first, and maximum ages in us."""
        r, tau = self.radius, self.tau_us
        steps = range(-r, r + 1)
        offsets = sorted((dy * dy + dx * dx, dy, dx) for dy in steps for dx in steps)
        offsets = [offset for offset in offsets if offset[0] <= r * r]
        reach = [math.isqrt(tau * tau * (r * r - d) // (r * r)) for d, _, _ in offsets]
        if not self.same_pixel:
            reach[0] = -1
        return np.array([(dy + r, dx + r) for _, dy, dx in offsets]), np.array(reach)

    def start(self, resolution: tuple[int, int]) -> "DbscanStream":
        """Start a recording."""
        return DbscanStream(self, resolution)


class DbscanStream:
    """State of the filter: held events, linked per pixel from newest to oldest."""

    def __init__(self, config: Dbscan, resolution: tuple[int, int]) -> None:
        self._config, self._resolution = config, resolution
        border = 2 * config.radius
        sensors = 1 + config.same_polarity
        shape = (resolution[1] + border, sensors * (resolution[0] + border))
        self._count_head, self._max_head = np.full((2, *shape), -1, np.int64)
        self._next = 0  # index in the recording of the next event for `max_neighbor_count`
        self._ellipsoid = config.ellipsoid()
        self._held = HeldEvents(
            x=np.int32, y=np.uint16, t=np.int64, older=np.int64, count=np.int64, highest=np.int64
        )

    def label(self, events: Events) -> Labels:
        """Process the next chunk; label the events whose neighbors are all known."""
        from evcrisp.kernels.filters.density.dbscan import count_neighbors

        events = check_sensor(events, self._resolution)
        if not len(events):
            return Labels.empty(0)
        held, config = self._held, self._config
        start = len(held)
        x = columns_by_polarity(events, 2 * config.radius, split=config.same_polarity)
        held.append(len(events), x=x, y=events.y, t=events.t, older=-1, count=0, highest=0)
        columns = (held["x"], held["y"], held["t"], start, held.first)
        count_neighbors(*columns, self._count_head, held["older"], *self._ellipsoid, held["count"])
        now = int(events.t[-1])
        ends = (now - config.tau_us, now - 2 * config.tau_us)
        n_counted, n_final = np.searchsorted(held["t"], ends, side="left")
        return self._labels(int(n_counted), int(n_final))

    def finish(self) -> Labels:
        """Label the held events."""
        return self._labels(len(self._held), len(self._held))

    def _labels(self, n_counted: int, n_final: int) -> Labels:
        """Compare the first ``n_counted`` counts with their neighbors; pop ``n_final`` events."""
        from evcrisp.kernels.filters.density.dbscan import max_neighbor_count

        held = self._held
        columns = (held["x"], held["y"], held["t"], self._next - held.first, n_counted, held.first)
        links = (self._max_head, held["older"], *self._ellipsoid)
        max_neighbor_count(*columns, *links, held["count"], held["highest"])
        self._next = held.first + n_counted
        out = held.take(n_final)
        score = out["highest"] + out["count"] / (out["count"] + 1.0)
        return Labels(out["highest"] >= self._config.min_events, score)


def columns_by_polarity(events: Events, border: int, *, split: bool) -> Integers:
    """Return x; ``split`` moves ON events to a second sensor, away from OFF events."""
    x = events.x.astype(np.int32)
    return x + (events.width + border) * events.p.astype(np.int32) if split else x
