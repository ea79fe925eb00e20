"""Carry the identity of layers and objects from window to window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats
from evcrisp.estimators.result import Estimate

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


class Placed(Protocol):
    """A layer or an object: where it is, and how it moves."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height, px."""
        ...

    @property
    def velocity(self) -> ArrayLike:
        """Velocity, (2,), px/s."""
        ...


class Identities:
    """Numbers of layers or objects over a recording."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._next = 0

    def assign(self, layers: Sequence[Placed], t_us: int) -> list[int]:
        """Return a number for each layer of a window; known ones keep theirs."""
        current = []
        for layer in layers:
            left, top, width, height = layer.box
            box = np.array([left, top, left + width, top + height])
            current.append(_Seen(-1, box, np.asarray(layer.velocity, np.float64), t_us))
        recent = [seen for seen in self._seen if 0 <= t_us - seen.t_us <= _MEMORY_US]
        numbers = self._match(current, recent)
        pairs = zip(current, numbers, strict=True)
        current = [_Seen(number, seen.box, seen.velocity, t_us) for seen, number in pairs]
        known = set(numbers)
        self._seen = [*current, *(seen for seen in recent if seen.id not in known)]
        return numbers

    def numbered(self, result: Estimate) -> Estimate:
        """Return the estimate of the next window with numbers of its layers; one motion has none."""
        if result.layer_map is None:
            return result
        numbers = self.assign(result.layers, result.window.t_ref)
        pairs = zip(result.layer_motions, numbers, strict=True)
        return replace(result, layer_motions=tuple(replace(part, id=k) for part, k in pairs))

    def _match(self, current: list[_Seen], recent: list[_Seen]) -> list[int]:
        """Pair layers with those before, the most alike first; others get new numbers."""
        numbers, used = [-1] * len(current), set()
        if current and recent:
            likeness = _likeness(current, recent)
            pairs = np.argwhere(likeness > _LEAST_OVERLAP)
            order = np.argsort(-likeness[pairs[:, 0], pairs[:, 1]], kind="stable")
            for i, j in pairs[order].tolist():
                if numbers[i] < 0 and j not in used:
                    numbers[i] = recent[j].id
                    used.add(j)
        for i, number in enumerate(numbers):
            if number < 0:
                numbers[i] = self._next
                self._next += 1
        return numbers


def _likeness(current: list[_Seen], recent: list[_Seen]) -> Floats:
    """Return the overlap of boxes at one time, less for different velocities; (current, recent)."""
    box = np.array([seen.box for seen in current])[:, None]
    velocity, before = (np.array([seen.velocity for seen in group]) for group in (current, recent))
    since_us = np.array([current[0].t_us - seen.t_us for seen in recent])[:, None]
    moved_px = before[:, [0, 1, 0, 1]] * since_us / 1e6
    other = (np.array([seen.box for seen in recent]) + moved_px)[None]
    shared = np.minimum(box[..., 2:], other[..., 2:]) - np.maximum(box[..., :2], other[..., :2])
    overlap = np.maximum(shared, 0.0).prod(axis=-1)
    areas = (box[..., 2:] - box[..., :2]).prod(axis=-1) + (other[..., 2:] - other[..., :2]).prod(
        axis=-1
    )
    overlap /= np.maximum(areas - overlap, 1e-9)
    difference_px = np.linalg.norm(velocity[:, None] - before[None], axis=-1) * 0.03
    return overlap / (1.0 + (difference_px / _VELOCITY_SCALE_PX) ** 2)
