"""Events of one sensor as a struct of arrays."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core import event_columns
from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.validation import as_resolution

if TYPE_CHECKING:
    import pyarrow
    import torch

#: Aligned record of 16 bytes, as in AEDAT4 and dv-processing.
RECORD_DTYPE = np.dtype({
    "names": ["t", "x", "y", "p"], "formats": ["<i8", "<u2", "<u2", "?"],
    "offsets": [0, 8, 10, 12], "itemsize": 16,
})  # fmt: skip

#: Field names of each column in files and other packages; our own first.
COLUMN_ALIASES: dict[str, tuple[str, ...]] = {
    "x": ("x", "xs"),
    "y": ("y", "ys"),
    "t": ("t", "ts", "timestamp", "timestamps", "time"),
    "p": ("p", "ps", "pol", "polarity", "polarities", "on"),
    "signal": ("signal",),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True, init=False)
class Events:
    """Events of one sensor, sorted by time; four read-only arrays of one length.

    Arrays of the right type (``x``, ``y`` uint16, ``t`` int64, ``p`` bool or uint8) are viewed, not
    copied. Do not change them afterwards: they are checked only once. Copy a buffer that is reused.
    Compare events with :meth:`equals`.

    Parameters
    ----------
    x, y : array_like of int, shape (n,), px
        Column (0 = left) and row (0 = top).
    t : array_like of int, shape (n,), us
        Timestamps, not decreasing.
    p : array_like of bool, or of 0/1, or of -1/+1, shape (n,)
        Polarity; True = brighter (ON).
    resolution : (int, int), px
        ``(width, height)`` of the sensor.
    signal : array_like of bool, shape (n,), optional
        Label of each event, where known: True = signal, False = noise.

    Raises
    ------
    EventDataError
        If lengths differ, a pixel is off the sensor, time decreases, or a value exceeds its type.

    Examples
    --------
    >>> events = Events(x=[3, 4, 5], y=[1, 1, 2], t=[0, 10, 25], p=[1, 0, 1], resolution=(8, 4))
    >>> events
    Events(n=3, resolution=8x4, t=0..25 us, on=2)
    >>> events[1:].x
    array([4, 5], dtype=uint16)
    >>> len(events.between(0, 11))
    2
    """

    x: NDArray[np.uint16]  # (n,) px
    y: NDArray[np.uint16]  # (n,) px
    t: NDArray[np.int64]  # (n,) us
    p: NDArray[np.bool_]  # (n,)
    resolution: tuple[int, int]  # (width, height) px
    signal: NDArray[np.bool_] | None  # (n,)

    def __new__(cls, *columns: object, **_named: object) -> "Events":
        """Refuse columns without a name: their order differs between libraries."""
        if columns:
            kinds = ", ".join(type(column).__name__ for column in columns)
            raise EventDataError(
                f"Events take their columns by name; got {len(columns)} without: {kinds}. "
                f"{_construction(columns[0])}"
            )
        return object.__new__(cls)

    def __init__(
        self,
        *,
        x: ArrayLike,
        y: ArrayLike,
        t: ArrayLike,
        p: ArrayLike,
        resolution: Sequence[int],
        signal: ArrayLike | None = None,
    ) -> None:
        size = as_resolution(resolution)
        columns: dict[str, NDArray[Any]] = {
            "x": event_columns.as_coordinate("x", x, size[0]),
            "y": event_columns.as_coordinate("y", y, size[1]),
            "t": event_columns.as_time(t),
            "p": event_columns.as_flag("p", p),
        }
        if signal is not None:
            columns["signal"] = event_columns.as_flag("signal", signal)
        event_columns.check_equal_lengths(columns)
        self._set(size, **{"signal": None, **columns})

    def _set(self, resolution: tuple[int, int], **columns: NDArray[Any] | None) -> None:
        for name, column in columns.items():
            object.__setattr__(
                self, name, column if column is None else event_columns.read_only(column)
            )
        object.__setattr__(self, "resolution", resolution)

    @classmethod
    def trusted(
        cls,
        x: NDArray[np.uint16],
        y: NDArray[np.uint16],
        t: NDArray[np.int64],
        p: NDArray[np.bool_],
        resolution: tuple[int, int],
        signal: NDArray[np.bool_] | None = None,
    ) -> "Events":
        """Wrap arrays that are known to be valid, without checks or conversion."""
        columns = (event_columns.read_only(column) for column in (x, y, t, p))
        labels = None if signal is None else event_columns.read_only(signal)
        return cls._of_read_only(*columns, resolution, labels)

    @classmethod
    def _of_read_only(
        cls,
        x: NDArray[np.uint16],
        y: NDArray[np.uint16],
        t: NDArray[np.int64],
        p: NDArray[np.bool_],
        resolution: tuple[int, int],
        signal: NDArray[np.bool_] | None,
    ) -> "Events":
        """Wrap arrays that are valid and read-only, such as parts of the columns of events."""
        events, fill = object.__new__(cls), object.__setattr__
        fill(events, "x", x)
        fill(events, "y", y)
        fill(events, "t", t)
        fill(events, "p", p)
        fill(events, "resolution", resolution)
        fill(events, "signal", signal)
        return events

    @classmethod
    def empty(cls, resolution: Sequence[int]) -> "Events":
        """Return no events, of a sensor."""
        return cls(x=[], y=[], t=[], p=[], resolution=resolution)

    @classmethod
    def sorted_from(
        cls,
        *,
        x: ArrayLike,
        y: ArrayLike,
        t: ArrayLike,
        p: ArrayLike,
        resolution: Sequence[int],
        signal: ArrayLike | None = None,
    ) -> "Events":
        """Sort columns by time and build events; the sort is stable."""
        columns = {"x": x, "y": y, "t": t, "p": p}
        if signal is not None:
            columns["signal"] = signal
        arrays = {name: event_columns.as_column(name, column) for name, column in columns.items()}
        event_columns.check_equal_lengths(arrays)
        order = np.argsort(arrays["t"], kind="stable")
        return cls(**{name: array[order] for name, array in arrays.items()}, resolution=resolution)

    @classmethod
    def concatenate(cls, parts: Iterable["Events"]) -> "Events":
        """Join events of one sensor in the order of time; keep labels if every part has them."""
        parts = list(parts)
        for part in parts:
            check_events("parts", part)
        if not parts:
            raise EventDataError("`parts` must hold at least one `Events`; got none.")
        sizes = {part.resolution for part in parts}
        if len(sizes) > 1:
            raise EventDataError(f"All parts must have one resolution; got {sorted(sizes)}.")
        if len(parts) == 1:
            return parts[0]
        filled = [part for part in parts if len(part)]
        for before, after in itertools.pairwise(filled):
            if after.t[0] < before.t[-1]:
                raise EventDataError(
                    f"Parts must follow each other in time; a part that starts at {after.t[0]} us "
                    f"comes after one that ends at {before.t[-1]} us."
                )
        # Empty parts have no labels to lose.
        labeled = [part for part in parts if len(part) or part.signal is not None]
        signals = [part.signal for part in labeled if part.signal is not None]
        signal = np.concatenate(signals) if signals and len(signals) == len(labeled) else None
        x, y, t, p = (np.concatenate([getattr(part, name) for part in parts]) for name in "xytp")
        return cls.trusted(x, y, t, p, parts[0].resolution, signal)

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep copies and pickles read-only."""
        columns = (self.x, self.y, self.t, self.p, self.resolution, self.signal)
        return Events.trusted, columns

    def __len__(self) -> int:
        return self.t.size

    def __repr__(self) -> str:
        width, height = self.resolution
        span = f", t={self.t[0]}..{self.t[-1]} us, on={self.n_on}" if len(self) else ""
        label = "" if self.signal is None else f", signal={int(self.signal.sum())}"
        return f"Events(n={len(self)}, resolution={width}x{height}{span}{label})"

    def _repr_html_(self) -> str:
        """Return a table of facts and a thumbnail, for notebooks."""
        from evcrisp.core.notebook_html import html_card, thumbnail

        width, height = self.resolution
        facts: list[tuple[str, str]] = [
            ("events", f"{len(self):,}"),
            ("sensor", f"{width} x {height} px"),
        ]
        if len(self):
            facts += [
                ("time", f"{self.t[0]} to {self.t[-1]} us"),
                ("duration", f"{self.duration_us / 1e3:,.3f} ms"),
                ("ON", f"{self.n_on / len(self):.1%}"),
            ]
            if self.signal is not None:
                facts.append(("signal", f"{self.signal.mean():.1%}"))
        picture = thumbnail(self.x, self.y, self.p, self.resolution)
        return html_card("Events", facts, [("ON red, OFF blue", picture)])

    def __getitem__(self, key: slice | ArrayLike) -> "Events":
        """Select by slice, by mask, or by indices that do not decrease."""
        if not isinstance(key, slice):
            key = event_columns.as_selection(key, len(self))
        elif key.step is not None and key.step < 0:
            raise EventDataError(f"Events are sorted by time; got slice step {key.step}.")
        signal = None if self.signal is None else self.signal[key]
        columns = self.x[key], self.y[key], self.t[key], self.p[key]
        if isinstance(key, slice):
            return Events._of_read_only(*columns, self.resolution, signal)
        return Events.trusted(*columns, self.resolution, signal)

    @property
    def width(self) -> int:
        """Number of columns of the sensor."""
        return self.resolution[0]

    @property
    def height(self) -> int:
        """Number of rows of the sensor."""
        return self.resolution[1]

    @property
    def image_shape(self) -> tuple[int, int]:
        """``(height, width)``, the shape of an image of this sensor."""
        return self.resolution[1], self.resolution[0]

    @property
    def n_on(self) -> int:
        """Number of ON events."""
        return int(np.count_nonzero(self.p))

    @property
    def duration_us(self) -> int:
        """Time from the first to the last event, us; 0 without events."""
        return int(self.t[-1]) - int(self.t[0]) if len(self) else 0

    def between(self, t_start: int, t_end: int) -> "Events":
        """Return a view of the events with ``t_start <= t < t_end``, us."""
        for name, time in (("t_start", t_start), ("t_end", t_end)):
            if not isinstance(time, (int, np.integer)):
                remedy = "For seconds use `round(seconds * 1e6)`."
                raise EventDataError(
                    "must be whole microseconds", parameter=name, value=time, remedy=remedy
                )
        # Numbers beyond int64 would convert all times to floats, which lose microseconds.
        limits = np.iinfo(np.int64)
        bounds = [min(max(t, limits.min), limits.max) for t in (t_start, t_end)]
        first, last = (int(np.searchsorted(self.t, t, side="left")) for t in bounds)
        return self[first : max(first, last)]

    def with_signal(self, signal: ArrayLike | None) -> "Events":
        """Return the same events with other labels, or without labels."""
        labels = None if signal is None else event_columns.as_flag("signal", signal)
        if labels is not None:
            event_columns.check_equal_lengths({"t": self.t, "signal": labels})
        return Events.trusted(self.x, self.y, self.t, self.p, self.resolution, labels)

    def equals(self, other: "Events") -> bool:
        """Return whether events, resolution and labels are equal."""
        if not isinstance(other, Events):
            return False
        pairs = ((self.x, other.x), (self.y, other.y), (self.t, other.t), (self.p, other.p))
        if self.resolution != other.resolution or (self.signal is None) != (other.signal is None):
            return False
        if self.signal is not None and other.signal is not None:
            pairs += ((self.signal, other.signal),)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def contiguous(self) -> "Events":
        """Return events with C-contiguous columns; the same object if they are."""
        x, y, t, p = self.x, self.y, self.t, self.p
        is_whole = x.flags.c_contiguous and y.flags.c_contiguous
        is_whole = is_whole and t.flags.c_contiguous and p.flags.c_contiguous
        if is_whole and (self.signal is None or self.signal.flags.c_contiguous):
            return self
        signal = None if self.signal is None else np.ascontiguousarray(self.signal)
        x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
        t, p = np.ascontiguousarray(t), np.ascontiguousarray(p)
        return Events.trusted(x, y, t, p, self.resolution, signal)

    def to_structured(self) -> NDArray[Any]:
        """Return a structured array with the fields t, x, y, p; see :mod:`evcrisp.core.interop`."""
        return _interop().to_structured(self)

    @classmethod
    def from_structured(cls, records: NDArray[Any], resolution: Sequence[int]) -> "Events":
        """View a structured array with the fields t, x, y, p; see :mod:`evcrisp.core.interop`."""
        return _interop().from_structured(records, resolution)

    def to_torch(self) -> "dict[str, torch.Tensor]":
        """Return the columns as torch tensors that share memory."""
        return _interop().to_torch(self)

    def to_arrow(self) -> "pyarrow.Table":
        """Return the columns as an Arrow table that shares memory."""
        return _interop().to_arrow(self)

    def to_eventcv(self) -> Any:
        """Return an ``eventcv.EventStream``."""
        return _interop().to_eventcv(self)

    @classmethod
    def from_eventcv(cls, stream: Any, resolution: Sequence[int] | None = None) -> "Events":
        """Build events from an ``eventcv.EventStream``."""
        return _interop().from_eventcv(stream, resolution)

    def to_dv(self) -> Any:
        """Return a ``dv_processing.EventStore``."""
        return _interop().to_dv(self)

    @classmethod
    def from_dv(cls, store: Any, resolution: Sequence[int]) -> "Events":
        """Build events from a ``dv_processing.EventStore``."""
        return _interop().from_dv(store, resolution)


def _interop() -> ModuleType:
    from evcrisp.core import interop  # which imports this module

    return interop


def check_events(name: str, value: object) -> None:
    """Raise unless an argument is ``Events``.

    >>> check_events("events", [1, 2])
    Traceback (most recent call last):
    evcrisp.core.errors.ConfigError: `events` must be Events; got list. Read a file with `evcrisp.read`, or build `Events(x=..., y=..., t=..., p=..., resolution=...)`.
    """
    if not isinstance(value, Events):
        raise not_events(name, value)


def not_events(name: str, value: object, wanted: str = "Events") -> ConfigError:
    """Return the error for an argument that should be ``Events``, with the way to make them."""
    return ConfigError(
        f"`{name}` must be {wanted}; got {type(value).__name__}. {_construction(value)}"
    )


def _construction(value: object) -> str:
    """Return how to make ``Events`` of a value."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return "Use `Events.from_structured(records, resolution)`."
    if isinstance(value, (str, PathLike)):
        return "Read the file with `evcrisp.read`."
    return "Read a file with `evcrisp.read`, or build `Events(x=..., y=..., t=..., p=..., resolution=...)`."
