"""Base of filters of other programs: their version, and labels from the events that they keep."""

import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.registry import require
from evcrisp.core.types import Bools
from evcrisp.filters.protocol import Filter, Labels, Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFilter(Filter):
    """A filter of another program, which must be installed."""

    module: ClassVar[str]  # to import
    distribution: ClassVar[str]  # name of the package, for its version
    is_causal: ClassVar[bool] = False
    package: str = field(init=False, default="")  # with its version

    def __post_init__(self) -> None:
        self.library()
        version = importlib.metadata.version(self.distribution)
        object.__setattr__(self, "package", f"{self.distribution} {version}")

    def library(self) -> Any:
        """Import the program, or raise `MissingExtraError`."""
        return require(self.module, extra=None, purpose=f"Runs of {self.name!r}")

    def start(self, resolution: tuple[int, int]) -> Stream:
        """Start a recording."""
        return HeldStream(self._labels_of)

    def _labels_of(self, events: Events) -> Labels:
        """Return labels; the score is the label, since the programs give no other."""
        signal = self.signal_of(events)
        return Labels(signal, signal.astype(np.float64))

    def signal_of(self, events: Events) -> Bools:
        """Return which events of a whole recording are kept."""
        raise NotImplementedError


class HeldStream(Stream):
    """Holds all events until the end; the program labels them at once."""

    def __init__(self, labels_of: Callable[[Events], Labels]) -> None:
        self._labels_of = labels_of
        self._held: list[Events] = []

    def label(self, events: Events) -> Labels:
        """Hold the next chunk."""
        self._held.append(events)
        return Labels.empty(0)

    def finish(self) -> Labels:
        """Label all events."""
        held = [part for part in self._held if len(part)]
        return self._labels_of(Events.concatenate(held)) if held else Labels.empty(0)


def kept_of(events: Events, kept: Events) -> Bools:
    """Return which events are kept, given those that a program returns in the same order.

    Of equal events, the first ones count as kept.

    >>> events = Events(x=[1, 2, 2], y=[0, 0, 0], t=[0, 1, 1], p=[1, 1, 1], resolution=(4, 4))
    >>> kept_of(events, events[1:2])
    array([False,  True, False])
    """
    rows, wanted = _rows(events), _rows(kept)
    signal = np.zeros(len(events), np.bool_)
    place = 0
    for row in wanted:
        try:
            place = rows.index(row, place)
        except ValueError:
            raise EventDataError(
                f"The program returned an event (t, x, y, p) = {row} that is not in the recording, "
                "or not in its order."
            ) from None
        signal[place] = True
        place += 1
    return signal


def _rows(events: Events) -> list[tuple[int, int, int, bool]]:
    columns = (events.t.tolist(), events.x.tolist(), events.y.tolist(), events.p.tolist())
    return list(zip(*columns, strict=True))
