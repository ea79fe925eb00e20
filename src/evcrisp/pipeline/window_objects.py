"""Objects of a window as numbers, without their events: what layers.csv needs of them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from evcrisp.core.doubt import Doubt
from evcrisp.estimators.layer import Layer
from evcrisp.estimators.result import MIN_OBJECT_EVENTS, Estimate
from evcrisp.motion.open_motion import affine_at


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

    @classmethod
    def of(cls, thing: Layer) -> "ObjectFacts":
        """Return the facts of an object."""
        vx, vy = thing.velocity.tolist()
        matrix = affine_at(thing.motion, thing.theta, thing.center)[2:].tolist()
        std_x, std_y = thing.velocity_std.tolist()
        doubts = codes_of(thing.doubts)
        return cls(
            thing.index, len(thing), thing.box, (vx, vy), tuple(matrix), (std_x, std_y), doubts
        )

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
        found = result.objects(MIN_OBJECT_EVENTS) if has_motion else ()
        facts = tuple(ObjectFacts.of(thing) for thing in found)
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


def codes_of(doubts: Iterable[Doubt]) -> str:
    """Return the codes of doubts in one cell, with blanks between them."""
    return " ".join(doubt.code for doubt in doubts)
