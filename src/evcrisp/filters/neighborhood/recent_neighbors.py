"""What filters share that look for support in the pixels around an event."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.protocol import Causal, Labels, checked

if TYPE_CHECKING:
    from evcrisp.kernels.filters.recent_neighbors import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A rule: so many pixels around have to have fired so short a time ago."""

    tau_us: int  # longest age of the supporting events
    k: int = 1  # how many pixels
    radius: int = 1  # px, of the square around
    same_polarity: bool = False  # their last event has the polarity of the event
    include_self: bool = False  # the earlier event of the same pixel supports too
    cross: bool = False  # the four nearest pixels instead of the square
    drop_first: bool = False  # the first event of a pixel is dropped, whoever supports it
    zero_start: bool = False  # as if each pixel had fired OFF at time 0
    refractory_us: int = (
        0  # events at most so long after one of their own pixel are dropped; 0 = none
    )
    pair_us: int = 0  # the same, after one of the other polarity

    def __post_init__(self) -> None:
        at_least("tau_us", self.tau_us, 1)
        at_least("k", self.k, 1)
        at_least("radius", self.radius, 1, most=100)
        at_least("refractory_us", self.refractory_us, 0)
        at_least("pair_us", self.pair_us, 0)
        n_pixels = len(self.offsets())
        if self.k > n_pixels:
            raise ConfigError(
                f"`k` must be at most the number of pixels around, {n_pixels}; got {self.k}."
            )

    def start(self, resolution: tuple[int, int]) -> "SupportStream":
        """Begin a recording."""
        return SupportStream(self, resolution)

    def offsets(self) -> list[tuple[int, int]]:
        """Return the pixels around, as (dx, dy)."""
        steps = range(-self.radius, self.radius + 1)
        return [
            (dx, dy)
            for dy in steps
            for dx in steps
            if (self.include_self or dx or dy) and not (self.cross and dx and dy)
        ]

    def blank(
        self, resolution: tuple[int, int], planes: int, origin_us: int
    ) -> tuple[NDArray[np.float64], int]:
        """Return the state before the first event, flat, and its places per row.

        The border, which spares a test of the sensor's edge, never fires.
        """
        from evcrisp.kernels.filters.recent_neighbors import NEVER_FLOAT

        (width, height), border = resolution, self.radius
        times = np.full((height + 2 * border, width + 2 * border, planes), NEVER_FLOAT)
        if self.zero_start:
            times[border : border + height, border : border + width, 0] = float(-origin_us)
        return times.ravel(), times.shape[1] * planes


@dataclass(frozen=True, slots=True)
class Supported:
    """A denoiser whose parameters are some of those of :class:`Support`."""

    def __post_init__(self) -> None:
        self.support()

    def start(self, resolution: tuple[int, int]) -> "SupportStream":
        """Begin a recording in which no pixel has fired."""
        return self.support().start(resolution)

    def support(self) -> Support:
        """Return the rule."""
        return Support(**{field.name: getattr(self, field.name) for field in fields(self)})


class SupportStream(Causal):
    """The rule at work; remembers the last event of each pixel."""

    __slots__ = ("_around", "_resolution", "_rule", "_support", "_times")

    def __init__(self, support: Support, resolution: tuple[int, int]) -> None:
        self._support = support
        self._resolution = resolution
        self._rule: Rule | None = None  # known when the first event comes

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.recent_neighbors import (
            kth_newest,
            newest_of_eight,
            newest_of_square,
        )

        events = checked(events, self._resolution)
        labels = Labels.room(len(events))
        if not len(events):
            return labels
        rule = self._rule or self._begin(int(events.t[0]))
        columns = (events.x, events.y, events.t)
        columns_p = (*columns, events.p.view(np.uint8))
        include_self = self._support.include_self
        is_square = self._support.radius == 1 and self._around.size == 8 + include_self
        if not is_square or rule.k > 2:
            state = (self._times, self._around, rule)
            kth_newest(*columns_p, *state, labels.signal, labels.score)
        elif include_self or rule.k > 1 or rule.planes > 1 or rule.looks_at_own:
            state = (self._times, include_self, rule)
            newest_of_square(*columns_p, *state, labels.signal, labels.score)
        else:
            newest_of_eight(*columns, self._times, rule, labels.signal, labels.score)
        return labels

    def _begin(self, origin_us: int) -> "Rule":
        from evcrisp.kernels.filters.recent_neighbors import Rule

        support = self._support
        planes = 2 if support.same_polarity or support.pair_us else 1
        self._times, stride = support.blank(self._resolution, planes, origin_us)
        places = [
            (dy + support.radius) * stride + (dx + support.radius) * planes
            for dx, dy in support.offsets()
        ]
        if planes == 2 and not support.same_polarity:  # an event is in one plane or the other
            places += [place + 1 for place in places]
        self._around = np.array(places, np.uint64)
        self._rule = Rule(
            k=support.k,
            tau_us=support.tau_us,
            origin_us=origin_us,
            stride=stride,
            center=support.radius * (stride + planes),
            planes=planes,
            same_polarity=int(support.same_polarity),
            looks_at_own=bool(support.drop_first or support.refractory_us or support.pair_us),
            drops_first=support.drop_first,
            refractory_us=support.refractory_us or -1,
            pair_us=support.pair_us or -1,
        )
        return self._rule
