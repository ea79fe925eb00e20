"""Carry the identity of layers and objects from window to window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.estimators.layer import Layer

#: Regions are the same if they, moved to one time, overlap by more than this (intersection over union).
_LEAST_OVERLAP = 0.15

#: Differences of velocity count like this many px of distance, in windows of 30 ms.
_VELOCITY_SCALE_PX = 6.0

#: What is not found again for longer is forgotten, us.
_MEMORY_US = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    id: int
    box: Floats  # (4,) left, top, right, bottom at `t_us`
    velocity: Floats  # (2,) px/s
    t_us: int

    def at(self, t_us: int) -> Floats:
        """Return the box at another time."""
        shift = self.velocity * (t_us - self.t_us) / 1e6
        return self.box + np.tile(shift, 2)


class Identities:
    """Numbers of layers or objects over a recording."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._next = 0

    def assign(self, layers: Sequence[Layer], t_us: int) -> list[int]:
        """Return a number for each layer of a window; known ones keep theirs."""
        current = []
        for layer in layers:
            left, top, width, height = layer.box
            box = np.array([left, top, left + width, top + height])
            current.append(_Seen(-1, box, layer.velocity, t_us))
        recent = [seen for seen in self._seen if 0 <= t_us - seen.t_us <= _MEMORY_US]
        numbers = self._match(current, recent)
        current = [replace(seen, id=number) for seen, number in zip(current, numbers, strict=True)]
        self._seen = [*current, *(seen for seen in recent if seen.id not in set(numbers))]
        return numbers

    def _match(self, current: list[_Seen], recent: list[_Seen]) -> list[int]:
        """Pair layers with those before, the most alike first; others get new numbers."""
        alike = [
            (_likeness(seen, before), i, j)
            for i, seen in enumerate(current)
            for j, before in enumerate(recent)
        ]
        numbers, used = [-1] * len(current), set()
        for likeness, i, j in sorted(alike, key=lambda item: -item[0]):
            if likeness > _LEAST_OVERLAP and numbers[i] < 0 and j not in used:
                numbers[i] = recent[j].id
                used.add(j)
        for i, number in enumerate(numbers):
            if number < 0:
                numbers[i] = self._next
                self._next += 1
        return numbers


def _likeness(seen: _Seen, before: _Seen) -> float:
    """Return the overlap of boxes at one time, less for different velocities."""
    box, other = seen.box, before.at(seen.t_us)
    low, high = np.maximum(box[:2], other[:2]), np.minimum(box[2:], other[2:])
    shared = float(np.prod(np.maximum(high - low, 0.0)))
    areas = float(np.prod(box[2:] - box[:2]) + np.prod(other[2:] - other[:2]))
    overlap = shared / max(areas - shared, 1e-9)
    difference_px = float(np.linalg.norm(seen.velocity - before.velocity)) * 0.03
    return overlap / (1.0 + (difference_px / _VELOCITY_SCALE_PX) ** 2)
