"""Events whose labels depend on later events."""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Integers


def columns_by_polarity(events: Events, border: int, *, split: bool) -> Integers:
    """Return x; with ``split``, shift ON events to a second sensor on the right.

    Events of different polarity are then never neighbors.
    """
    x = events.x.astype(np.int32)
    return x + (events.width + border) * events.p.astype(np.int32) if split else x


class HeldEvents:
    """Queue of events in columns of equal length."""

    __slots__ = ("columns", "first")

    def __init__(self, **columns: type[np.generic]) -> None:
        self.columns: dict[str, NDArray] = {
            name: np.empty(0, dtype) for name, dtype in columns.items()
        }
        self.first = 0  # index in the recording of the first held event

    def __getitem__(self, name: str) -> NDArray:
        return self.columns[name]

    def __len__(self) -> int:
        return next(iter(self.columns.values())).size

    def push(self, n: int, **columns: NDArray | int) -> None:
        """Append ``n`` events; a scalar fills its column."""
        for name, held in self.columns.items():
            self.columns[name] = np.concatenate([held, np.full(n, columns[name], held.dtype)])

    def pop(self, n: int) -> dict[str, NDArray]:
        """Remove and return the first ``n`` events."""
        out = {name: held[:n] for name, held in self.columns.items()}
        self.columns = {name: held[n:].copy() for name, held in self.columns.items()}
        self.first += n
        return out
