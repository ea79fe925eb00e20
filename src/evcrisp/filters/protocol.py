"""What a denoiser offers: labels for events, and a state so that a stream can be cut anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What a denoiser says about each event."""

    signal: NDArray[np.bool_]  # (n,) True = keep
    score: NDArray[np.float64]  # (n,) larger = more likely signal; always finite

    def __len__(self) -> int:
        return self.signal.size

    def kept(self, events: Events) -> Events:
        """Return the events that are signal: ``events[labels.signal]``, but faster."""
        from evcrisp.kernels.io.compress import copy_kept

        if len(events) != len(self):
            raise EventDataError(
                f"`events` must be those of the labels, {len(self)}; got {len(events)}."
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
    def room(cls, n: int) -> "Labels":
        """Return labels of ``n`` events, to be filled."""
        return cls(np.empty(n, np.bool_), np.empty(n))

    @classmethod
    def joined(cls, parts: Sequence["Labels"]) -> "Labels":
        """Return the labels of several chunks, one after the other."""
        parts = [part for part in parts if len(part)] or [cls.room(0)]
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.signal for part in parts]),
            np.concatenate([part.score for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class About:
    """Where a denoiser comes from and what it costs, for lists and documentation."""

    source: str  # author, year, and whose implementation a preset follows
    cost: str  # operations per event, such as "9 pixels"
    memory: str  # state, such as "1 time per pixel"
    reconstruction: str = ""  # what had to be guessed because the source is not clear


class Stream(Protocol):
    """A denoiser at work on one recording."""

    def label(self, events: Events) -> Labels:
        """Take the next chunk and return the labels that are ready, in the order of the events.

        Denoisers that look ahead hold some back: those of earlier chunks then come first.
        """
        ...

    def finish(self) -> Labels:
        """Return the labels that were held back; the recording has ended."""
        ...


class Denoiser(Protocol):
    """A denoiser's parameters; a frozen dataclass."""

    name: ClassVar[str]
    about: ClassVar[About]
    #: Parameters by the name of an implementation that they reproduce.
    presets: ClassVar[Mapping[str, Mapping[str, object]]]

    def start(self, resolution: tuple[int, int]) -> Stream:
        """Begin a recording of a sensor, with a state in which no pixel has fired."""
        ...


class Causal:
    """A stream that labels each event when it comes."""

    __slots__ = ()

    def finish(self) -> Labels:
        """Return nothing: no label was held back."""
        return Labels.room(0)


def checked(events: Events, resolution: tuple[int, int]) -> Events:
    """Return events with contiguous columns; raise if they are not of the sensor of the stream."""
    if events.resolution != resolution:
        raise EventDataError(
            f"`events` must be of the sensor that the stream was started for, "
            f"{resolution[0]}x{resolution[1]}; got {events.width}x{events.height}."
        )
    return events.contiguous()
