"""Events whose labels have to wait for later events."""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events


def columns_by_polarity(events: Events, border: int, *, apart: bool) -> NDArray[np.int32]:
    """Return x, and with ``apart`` x on a second sensor to the right for ON events.

    Events of different polarity then have nothing to do with each other.
    """
    x = events.x.astype(np.int32)
    return x + (events.width + border) * events.p.astype(np.int32) if apart else x


class Held:
    """Columns of one length that grow at the end and shrink at the front."""

    __slots__ = ("columns", "first")

    def __init__(self, **columns: type[np.generic]) -> None:
        self.columns: dict[str, NDArray] = {
            name: np.empty(0, dtype) for name, dtype in columns.items()
        }
        self.first = 0  # number of the first event that is held

    def __getitem__(self, name: str) -> NDArray:
        return self.columns[name]

    def __len__(self) -> int:
        return next(iter(self.columns.values())).size

    def push(self, n: int, **columns: NDArray | int) -> None:
        """Append ``n`` events; a plain number fills the whole column."""
        for name, held in self.columns.items():
            grown = np.empty(held.size + n, held.dtype)
            grown[: held.size] = held
            grown[held.size :] = columns[name]
            self.columns[name] = grown

    def pop(self, n: int) -> dict[str, NDArray]:
        """Remove and return the first ``n`` events."""
        out = {name: held[:n] for name, held in self.columns.items()}
        self.columns = {name: held[n:].copy() for name, held in self.columns.items()}
        self.first += n
        return out
