"""The rule of several filters: enough neighboring pixels fired recently."""

from dataclasses import dataclass, fields

import numpy as np

from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import Filter, KernelStream, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighborRule:
    """Keep an event if ``k`` neighboring pixels fired at most ``tau_us`` earlier."""

    tau_us: int  # maximum age of the last event of a neighbor
    k: int = 1  # number of neighbors that must be recent
    radius: int = 1  # px, neighbors are in a square of side 2 radius + 1
    same_polarity: bool = False  # the last event of a neighbor must have the event's polarity
    include_self: bool = False  # the event's own pixel counts as a neighbor
    cross: bool = False  # only neighbors in the same row or column
    drop_first: bool = False  # drop the first event of each pixel
    zero_start: bool = False  # start as if each pixel had fired OFF at time 0
    refractory_us: int = 0  # drop events up to this long after one of the same pixel; 0 = off
    pair_us: int = 0  # the same, only after an event of the other polarity

    def __post_init__(self) -> None:
        check_minimum(self, tau_us=1, k=1, refractory_us=0, pair_us=0)
        check_number("radius", self.radius, 1, 100)
        check_number("k", self.k, 1, len(self.offsets()), remedy="There are no more neighbors.")

    def offsets(self) -> list[tuple[int, int]]:
        """Return the neighbors as (dx, dy)."""
        steps = range(-self.radius, self.radius + 1)
        return [
            (dx, dy)
            for dy in steps
            for dx in steps
            if (self.include_self or dx or dy) and not (self.cross and dx and dy)
        ]

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording with the fastest kernel for the rule."""
        from evcrisp.kernels.filters.neighborhood import recent_neighbors as kernels

        radius = self.radius
        planes = 2 if self.same_polarity or self.pair_us else 1
        shape = tuple(size + 2 * radius for size in reversed(resolution))
        stride = shape[1] * planes
        places = [(dy + radius) * stride + (dx + radius) * planes for dx, dy in self.offsets()]
        if planes == 2 and not self.same_polarity:  # the last event is in either plane
            places += [place + 1 for place in places]
        rule = kernels.Rule(
            k=self.k, tau_us=self.tau_us, origin_us=0, stride=stride,
            center=radius * (stride + planes), planes=planes, same_polarity=int(self.same_polarity),
            tests_own_pixel=bool(self.drop_first or self.refractory_us or self.pair_us),
            drop_first=self.drop_first, refractory_us=self.refractory_us or -1,
            pair_us=self.pair_us or -1,
        )  # fmt: skip
        kernel, columns, extra = kernels.newest_of_eight, "xyt", ()
        if radius > 1 or len(places) != 8 + self.include_self or self.k > 2:
            kernel, columns = kernels.kth_newest, "xytp"
            extra = (np.array(places, np.uint64),)
        elif self.include_self or self.k > 1 or planes > 1 or rule.tests_own_pixel:
            kernel, columns, extra = kernels.newest_of_square, "xytp", (self.include_self,)

        def state(t_first: int) -> tuple[object, ...]:
            # The border never fires, so that the kernels need no test of the sensor's edge.
            times = np.full((*shape, planes), kernels.NEVER_FLOAT)
            if self.zero_start:
                times[radius:-radius, radius:-radius, 0] = float(-t_first)
            return times.ravel(), *extra, rule._replace(origin_us=t_first)

        return KernelStream(resolution, kernel, columns, state)


@dataclass(frozen=True, slots=True)
class NeighborFilter(Filter):
    """A filter whose parameters are fields of :class:`NeighborRule`."""

    def __post_init__(self) -> None:
        self.rule()

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        return self.rule().start(resolution)

    def rule(self) -> NeighborRule:
        """Return the rule with the parameters of the filter."""
        return NeighborRule(**{field.name: getattr(self, field.name) for field in fields(self)})
