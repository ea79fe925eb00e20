"""Objects of a window as numbers, without their events: what layers.csv needs of them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evcrisp.core.doubt import Doubt
from evcrisp.estimators.result import MIN_OBJECT_EVENTS, Estimate
from evcrisp.motion.open_motion import affine_at_each
from evcrisp.motion.velocity import velocity_of, velocity_rates_at
from evcrisp.pipeline.layer_regions import regions_of


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """An object: its layer, place and velocity."""

    index: int  # of its layer
    n_events: int
    box: tuple[float, float, float, float]  # left, top, width, height, px
    velocity: tuple[float, float]  # px/s
    matrix: tuple[float, ...]  # (4,) change of the velocity over the region, row by row, 1/s
    std: tuple[float, float]  # px/s
    doubts: str  # codes

    @property
    def numbers(self) -> tuple[float, ...]:
        """Velocity, its change over the region, and its standard deviations."""
        return *self.velocity, *self.matrix, *self.std


@dataclass(frozen=True, slots=True)
class WindowObjects:
    """Times of a window, us, and its objects."""

    t_start: int
    t_end: int
    t_ref: int
    has_motion: bool
    objects: tuple[ObjectFacts, ...]

    @classmethod
    def of(cls, result: Estimate) -> "WindowObjects":
        """Return the objects of an estimate."""
        window, has_motion = result.window, result.status.has_motion
        n_layers = len(result.layer_motions) if has_motion else 0
        facts = tuple(facts for index in range(n_layers) for facts in _facts_of(result, index))
        return cls(window.t_start, window.t_end, window.t_ref, has_motion, facts)

    def as_json(self) -> dict[str, Any]:
        """Return JSON types."""
        return asdict(self)

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> "WindowObjects":
        """Return what `as_json` was made from."""
        objects = tuple(ObjectFacts(**thing) for thing in facts["objects"])
        times = (facts[name] for name in ("t_start", "t_end", "t_ref"))
        return cls(*times, facts["has_motion"], objects)


def _facts_of(result: Estimate, index: int) -> list[ObjectFacts]:
    """Return the objects of a layer; their velocities are found at once."""
    layer = result.layer_motions[index]
    regions = regions_of(result.window.events, result.layer, index, MIN_OBJECT_EVENTS)
    if not regions:
        return []
    left, top, width, height = np.array([region.box for region in regions]).T
    x, y = left + 0.5 * (width - 1.0), top + 0.5 * (height - 1.0)
    velocity = velocity_of(layer.motion, layer.theta, x, y, np.zeros(x.size)).tolist()
    matrix = affine_at_each(layer.motion, layer.theta, x, y)[:, 2:].tolist()
    std = np.full((x.size, 2), np.nan)
    if layer.covariance is not None:
        rates = velocity_rates_at(layer.motion, layer.theta, x, y)
        std = np.sqrt(np.einsum("kia,ab,kib->ki", rates, layer.covariance, rates))
    doubts = codes_of(layer.doubts)
    rows = zip(regions, velocity, matrix, std.tolist(), strict=True)
    return [
        ObjectFacts(
            index, region.n_events, region.box, (v[0], v[1]), tuple(m), (s[0], s[1]), doubts
        )
        for region, v, m, s in rows
    ]


def codes_of(doubts: Iterable[Doubt]) -> str:
    """Return the codes of doubts in one cell, with blanks between them."""
    return " ".join(doubt.code for doubt in doubts)
