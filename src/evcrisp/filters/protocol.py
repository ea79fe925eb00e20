"""The filter protocol: parameters, a stream per recording, and labels per event."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.core.validation import check_number

#: Parameters by the name of the implementation that they reproduce.
Presets = Mapping[str, Mapping[str, object]]

#: Maximum of times and counts; kernels compute in float64, which is exact up to here.
_MAX_VALUE = 2**53


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels:
    """Signal and score of each event.

    >>> Labels(np.array([True, False]), np.array([0.9, 0.2]))
    Labels(n=2, signal=1)
    """

    signal: Bools  # (n,) True = keep
    score: Floats  # (n,) larger = more likely signal; always finite

    def __len__(self) -> int:
        return self.signal.size

    def __repr__(self) -> str:
        return f"Labels(n={len(self)}, signal={int(np.count_nonzero(self.signal))})"

    def kept(self, events: Events) -> Events:
        """Return the events that are signal; faster than ``events[labels.signal]``."""
        from evcrisp.kernels.io.compress import copy_kept

        if len(events) != len(self):
            raise EventDataError(
                f"`events` must be the {len(self)} events of the labels; got {len(events)}."
            )
        events = events.contiguous()
        n = int(np.count_nonzero(self.signal))
        x, y = np.empty(n + 1, np.uint16), np.empty(n + 1, np.uint16)
        t, p = np.empty(n + 1, np.int64), np.empty(n + 1, np.bool_)
        signal = np.ascontiguousarray(self.signal)
        copy_kept(events.x, events.y, events.t, events.p, signal, x, y, t, p)
        truth = None if events.signal is None else events.signal[self.signal]
        return Events.trusted(x[:n], y[:n], t[:n], p[:n], events.resolution, truth)

    @classmethod
    def empty(cls, n: int) -> "Labels":
        """Return uninitialized labels of ``n`` events."""
        return cls(np.empty(n, np.bool_), np.empty(n))

    @classmethod
    def concatenate(cls, parts: Sequence["Labels"]) -> "Labels":
        """Return the labels of consecutive chunks as one object."""
        parts = [part for part in parts if len(part)] or [cls.empty(0)]
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.signal for part in parts]),
            np.concatenate([part.score for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class About:
    """Origin and cost of a filter, for lists and documentation."""

    source: str = ""  # author and year, and the implementations that presets follow
    cost: str = ""  # work per event, such as "9 pixels"
    memory: str = ""  # size of the state, such as "1 time per pixel"
    reconstruction: str = ""  # parts that the source leaves open
    #: Presets whose labels were compared with those of the program, and are equal bit for bit.
    compared: tuple[str, ...] = ()


class Stream(Protocol):
    """State of a filter on one recording."""

    def label(self, events: Events) -> Labels:
        """Process the next chunk; return the labels that are final, in the order of the events.

        A filter that looks ahead returns some labels in a later call.
        """
        ...

    def finish(self) -> Labels:
        """Return the remaining labels at the end of the recording."""
        ...


class Filter(Protocol):
    """Parameters of a filter, usually as a frozen dataclass.

    A class with ``name`` and ``start`` is enough; the other attributes then have these defaults.
    """

    __slots__ = ()

    name: ClassVar[str]
    about: ClassVar[About] = About()
    presets: ClassVar[Presets] = {}
    #: True if `label` returns the labels of all its events at once; False if it looks ahead.
    is_causal: ClassVar[bool] = True

    def start(self, resolution: tuple[int, int]) -> Stream:
        """Return a new stream for a recording of a sensor, (width, height)."""
        ...


def about(kind: type[Filter]) -> About:
    """Return the description of a filter class; empty if it has none."""
    return getattr(kind, "about", Filter.about)


def presets(kind: type[Filter]) -> Presets:
    """Return the presets of a filter class; empty if it has none."""
    return getattr(kind, "presets", Filter.presets)


def is_causal(filter: Filter) -> bool:
    """Return whether a filter labels each event at once; True if it does not say."""
    return getattr(filter, "is_causal", Filter.is_causal)


@dataclass(eq=False)
class CausalStream:
    """Base of streams that label each event at once; subclasses define ``fill``."""

    resolution: tuple[int, int]

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        events = check_sensor(events, self.resolution)
        labels = Labels.empty(len(events))
        if len(events):
            self.fill(events, labels)
        return labels

    def finish(self) -> Labels:
        """Return no labels: all are final already."""
        return Labels.empty(0)

    def fill(self, events: Events, labels: Labels) -> None:
        """Write signal and score of a chunk with at least one event."""
        raise NotImplementedError


@dataclass(eq=False)
class KernelStream(CausalStream):
    """A stream that calls ``kernel(*columns, *state, signal, score)`` once per chunk.

    ``columns`` are the names of the columns that the kernel reads, such as "xyt". The kernel updates
    ``state`` in place; it can be a function that returns it, given the time of the first event.
    """

    kernel: Callable[..., Any]
    columns: str
    state: tuple[Any, ...] | Callable[[int], tuple[Any, ...]]

    def fill(self, events: Events, labels: Labels) -> None:
        """Call the kernel."""
        if not isinstance(self.state, tuple):
            self.state = self.state(int(events.t[0]))
        columns = {"x": events.x, "y": events.y, "t": events.t, "p": events.p.view(np.uint8)}
        arguments = (*(columns[name] for name in self.columns), *self.state)
        self.kernel(*arguments, labels.signal, labels.score)


class HeldEvents:
    """Queue of events whose labels depend on later events, in columns of equal length."""

    def __init__(self, **columns: type[np.generic]) -> None:
        empty: dict[str, NDArray] = {name: np.empty(0, dtype) for name, dtype in columns.items()}
        self.columns = empty
        self.first = 0  # index in the recording of the first held event

    def __getitem__(self, name: str) -> NDArray:
        return self.columns[name]

    def __len__(self) -> int:
        return next(iter(self.columns.values())).size

    def append(self, n: int, **columns: NDArray | int) -> None:
        """Append ``n`` events; a scalar fills its column."""
        for name, held in self.columns.items():
            self.columns[name] = np.concatenate([held, np.full(n, columns[name], held.dtype)])

    def take(self, n: int) -> dict[str, NDArray]:
        """Remove and return the first ``n`` events."""
        out = {name: held[:n] for name, held in self.columns.items()}
        self.columns = {name: held[n:].copy() for name, held in self.columns.items()}
        self.first += n
        return out


def check_minimum(config: object, **minimums: float) -> None:
    """Raise unless parameters, times or counts, have at least these values."""
    for name, low in minimums.items():
        value = getattr(config, name)
        # A message gives the upper bound only if the value exceeds it.
        is_large = isinstance(value, (int, float)) and value > _MAX_VALUE
        check_number(name, value, low, _MAX_VALUE if is_large else math.inf)


def check_sensor(events: Events, resolution: tuple[int, int]) -> Events:
    """Return events with contiguous columns; raise if their resolution is not the stream's."""
    if events.resolution != resolution:
        raise EventDataError(
            "`events` must have the resolution with which the stream was started, "
            f"{resolution[0]}x{resolution[1]}; got {events.width}x{events.height}."
        )
    return events.contiguous()
