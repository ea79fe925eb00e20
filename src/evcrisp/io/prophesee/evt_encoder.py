"""Encode events and triggers as Prophesee words, for files and ROS messages."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import OutputError
from evcrisp.core.sensor_data import TriggerKind, Triggers
from evcrisp.io.prophesee.evt_header import SPLIT
from evcrisp.io.protocol import Columns

#: Limit of a pause in loops of the clock, each of which is written; 203 days for EVT 3.0.
MAX_LOOPS = 1 << 20


class Edges(NamedTuple):
    """Rising and falling edges of external triggers, sorted by time."""

    t: NDArray[np.int64]  # us
    value: NDArray[np.int64]  # channel << 8 | level

    def part(self, part: slice) -> "Edges":
        """Return a range of the edges, as views."""
        return Edges(self.t[part], self.value[part])


NO_EDGES = Edges(np.empty(0, np.int64), np.empty(0, np.int64))


class EvtEncoder:
    """Base of the encoders; use :class:`Evt3Encoder` and :class:`Evt2Encoder`.

    The words do not depend on how the events are divided among calls. A trigger comes before the
    first event that is not earlier.

    Parameters
    ----------
    width : int
        Width of the sensor, px.
    edges : Edges
        Triggers to insert, with time from 0 on.
    """

    title: ClassVar[str]
    n_channels: ClassVar[int]  # of triggers
    time_bits: ClassVar[int]  # of the clock
    low_bits: ClassVar[int]  # of them, those that are not in TIME_HIGH words
    word_dtype: ClassVar[type[np.unsignedinteger[Any]]]
    words_per_event: ClassVar[int]

    def __init__(self, width: int, edges: Edges = NO_EDGES) -> None:
        from evcrisp.kernels.io.evt_writers import START

        self._width, self._edges = width, edges
        self._state = np.array(START, np.int64)
        self._t_last = 0

    @classmethod
    def edges_of(cls, triggers: Triggers) -> Edges:
        """Return the triggers that the words can express: edges, of the first channels."""
        rising = triggers.kind == TriggerKind.RISING_EDGE
        falling = triggers.kind == TriggerKind.FALLING_EDGE
        good = np.flatnonzero((rising | falling) & (triggers.channel < cls.n_channels))
        good = good[np.argsort(triggers.t[good], kind="stable")]
        value = triggers.channel[good].astype(np.int64) << 8 | rising[good]
        return Edges(triggers.t[good], value)

    @property
    def next_edge(self) -> int | None:
        """Time of the next trigger, us, or None."""
        return int(self._edges.t[0]) if self._edges.t.size else None

    def encode(self, columns: Columns) -> Iterator[NDArray[Any]]:
        """Yield the words of contiguous columns, with time from 0 on, and of earlier triggers."""
        if not columns.t.size:
            return
        n_due = int(np.searchsorted(self._edges.t, columns.t[-1], side="right"))
        due, self._edges = self._edges.part(slice(n_due)), self._edges.part(slice(n_due, None))
        places = np.searchsorted(columns.t, due.t, side="left")
        first = 0
        for place in np.unique(places).tolist():
            yield from self._encoded(columns.part(slice(first, place)))
            yield self.flush()
            start, end = np.searchsorted(places, [place, place + 1]).tolist()
            yield from self._encoded(due.part(slice(start, end)))
            first = place
        yield from self._encoded(columns.part(slice(first, None)))

    def flush(self) -> NDArray[Any]:
        """Return the words of the events that are kept back."""
        n_loops = self._n_loops(np.array([self._t_last]))
        return self._words(Columns.empty(0), n_loops, is_end=True)

    def finish(self) -> Iterator[NDArray[Any]]:
        """Yield the words of the events that are kept back, and of all later triggers."""
        yield self.flush()
        edges, self._edges = self._edges, NO_EDGES
        yield from self._encoded(edges)

    def restart(self) -> NDArray[Any]:
        """Return words after which decoding can start; call it after :meth:`flush`."""
        from evcrisp.kernels.io import evt_writers as kernel

        high = int(self._state[kernel.HIGH])
        self._state[kernel.LOW : kernel.FOLLOWING + 1] = -1
        return np.array([] if high < 0 else [self._time_high(high)], self.word_dtype)

    def _encoded(self, items: Columns | Edges) -> Iterator[NDArray[Any]]:
        """Yield the words of events or triggers; raise at a pause that takes too many words."""
        t = items.t
        if not t.size:
            return
        if self._n_loops(t) > MAX_LOOPS and t.size > 1:
            for part in (slice(t.size // 2), slice(t.size // 2, None)):
                yield from self._encoded(items.part(part))
            return
        if self._n_loops(t) > MAX_LOOPS:
            yield self.flush()
        if self._n_loops(t) > MAX_LOOPS:
            pause = int(t[-1]) - self._t_last
            raise OutputError(f"{self.title} does not keep a pause of {pause} us.", remedy=SPLIT)
        self._t_last = int(t[-1])
        yield self._words(items, self._n_loops(t), is_end=False)

    def _n_loops(self, t: NDArray[np.int64]) -> int:
        """Return the number of clock loops to write up to the last time."""
        from evcrisp.kernels.io.evt_writers import HIGH

        written = max(int(self._state[HIGH]), 0) << self.low_bits
        return (int(t[-1]) >> self.time_bits) - (written >> self.time_bits) + 1

    def _words(self, items: Columns | Edges, n_loops: int, *, is_end: bool) -> NDArray[Any]:
        from evcrisp.kernels.io import evt_writers as kernel

        size = items.t.size * self.words_per_event + kernel.WORDS_PER_LOOP * n_loops
        out = np.empty(size + kernel.RUN_WORDS, self.word_dtype)
        if isinstance(items, Edges):
            n_words = self._edge_kernel()(*items, self._state, out)
        else:
            n_words = self._encode_events(items, is_end, out)
        return out[: int(n_words)].astype(out.dtype.newbyteorder("<"), copy=False)

    def _encode_events(self, columns: Columns, is_end: bool, out: NDArray[Any]) -> int:
        raise NotImplementedError

    def _edge_kernel(self) -> Callable[..., int]:
        raise NotImplementedError

    def _time_high(self, high: int) -> int:
        raise NotImplementedError


class Evt3Encoder(EvtEncoder):
    """Encode EVT 3.0 words (uint16), with runs of neighbors in a row as vectors.

    >>> columns = Columns.empty(1)
    >>> columns.x[:], columns.y[:], columns.t[:], columns.p[:] = 3, 7, 4101, True
    >>> encoder = Evt3Encoder(width=640)
    >>> words = np.concatenate([*encoder.encode(columns), *encoder.finish()])
    >>> [f"{word:04x}" for word in words.tolist()]      # TIME_HIGH, TIME_LOW, ADDR_Y, ADDR_X
    ['8001', '6005', '0007', '2803']
    """

    title = "Prophesee EVT 3.0"
    n_channels = 16
    time_bits = 24
    low_bits = 12
    word_dtype = np.uint16
    words_per_event = 4

    def _encode_events(self, columns: Columns, is_end: bool, out: NDArray[Any]) -> int:
        from evcrisp.kernels.io.evt_writers import encode_evt3

        return encode_evt3(*columns, self._width, is_end, self._state, out)

    def _edge_kernel(self) -> Callable[..., int]:
        from evcrisp.kernels.io.evt_writers import encode_evt3_triggers

        return encode_evt3_triggers

    def _time_high(self, high: int) -> int:
        return 0x8000 | high & 0xFFF


class Evt2Encoder(EvtEncoder):
    """Encode EVT 2.0 words (uint32)."""

    title = "Prophesee EVT 2.0"
    n_channels = 32
    time_bits = 34
    low_bits = 6
    word_dtype = np.uint32
    words_per_event = 2

    def _encode_events(self, columns: Columns, is_end: bool, out: NDArray[Any]) -> int:
        from evcrisp.kernels.io.evt_writers import encode_evt2

        return encode_evt2(*columns, self._state, out)

    def _edge_kernel(self) -> Callable[..., int]:
        from evcrisp.kernels.io.evt_writers import encode_evt2_triggers

        return encode_evt2_triggers

    def _time_high(self, high: int) -> int:
        return 0x8000_0000 | high & 0xFFF_FFFF
