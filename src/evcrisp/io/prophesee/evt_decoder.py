"""Decode Prophesee words from files, ROS messages or sockets, in pieces of any size."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.sensor_data import TriggerKind, Triggers
from evcrisp.io.protocol import Columns


class EvtDecoder:
    """Base of the three decoders; use :class:`Evt3Decoder` and its siblings.

    Events before the first TIME_HIGH word have no time. They are left out and counted in
    :attr:`n_lost`, as in the vendor's software. The caller checks that time does not decrease and
    that events lie on the sensor.

    Parameters
    ----------
    t_base, keep_triggers : int, bool
        Time added to all events and triggers, us; keep external triggers for :meth:`triggers`.
    """

    word_dtype: ClassVar[np.dtype[Any]]
    _name: ClassVar[str]  # in the names of the kernels
    _kernel_module: ClassVar[str]
    _channel_mask: ClassVar[int] = 0x1F  # of the word of a trigger, from bit 8 on
    clock_bits: ClassVar[int] = 34  # the clock starts over after 2^34 us

    def __init__(self, *, t_base: int = 0, keep_triggers: bool = True) -> None:
        self._t_base = int(t_base)
        self._keep_triggers = keep_triggers
        self._trigger_parts: list[tuple[NDArray[np.int64], NDArray[np.uint32]]] = []
        self._kernels = import_module(f"evcrisp.kernels.io.{self._kernel_module}")
        self._count = getattr(self._kernels, f"count_{self._name}")
        self._decode = getattr(self._kernels, f"decode_{self._name}")
        self._state = np.array(self._kernels.START, np.int64)

    def _prepared(self, words: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(words, self.word_dtype)

    @property
    def n_lost(self) -> int:
        """Number of events and triggers before the first time or position."""
        return int(self._state[self._kernels.N_LOST])

    @property
    def n_reserved(self) -> int:
        """Number of skipped words, of types that the format does not document."""
        return int(self._state[self._kernels.N_RESERVED])

    def decode(self, words: NDArray[Any]) -> Columns:
        """Return the events of the next words, ``np.frombuffer(data, decoder.word_dtype)``."""
        words = self._prepared(words)
        return self._filled(words, *self._count(words))

    def has_triggers(self, words: NDArray[Any]) -> bool:
        """Return whether words include external triggers, without decoding them."""
        return bool(self._count(self._prepared(words))[1])

    def pieces(self, words: NDArray[Any], max_events: int) -> Iterator[Columns]:
        """Yield the result of :meth:`decode` in pieces of at most ``max_events``, 32 or more."""
        pending = [self._prepared(words)]
        while pending:
            part = pending.pop()
            n_events, n_triggers = self._count(part)
            if n_events > max_events:
                half = len(part) // 2
                pending += [part[half:], part[:half]]
            else:
                yield self._filled(part, n_events, n_triggers)

    def _filled(self, words: NDArray[Any], n_events: int, n_triggers: int) -> Columns:
        columns = Columns.empty(n_events + self._kernels.SLACK)
        trigger_t = np.empty(n_triggers, np.int64)
        trigger_word = np.empty(n_triggers, np.uint32)
        n, n_triggers = self._decode(words, self._state, *columns, trigger_t, trigger_word)
        if self._t_base:
            columns.t[:n] += self._t_base
            trigger_t += self._t_base
        if self._keep_triggers and n_triggers:
            self._trigger_parts.append((trigger_t[:n_triggers], trigger_word[:n_triggers]))
        return columns.part(slice(n))

    def triggers(self) -> Triggers:
        """Return the external triggers found so far."""
        empty = (np.empty(0, np.int64), np.empty(0, np.uint32))
        t, word = map(np.concatenate, zip(empty, *self._trigger_parts, strict=True))
        return edge_triggers(t, word & 1, word >> 8 & self._channel_mask)


def edge_triggers(t: NDArray[np.int64], level: NDArray[Any], channel: NDArray[Any]) -> Triggers:
    """Return triggers with a rising edge where the level is positive, else a falling edge."""
    rising, falling = TriggerKind.RISING_EDGE, TriggerKind.FALLING_EDGE
    kind = np.where(level > 0, rising, falling).astype(np.uint8)
    return Triggers(t=t, kind=kind, channel=channel.astype(np.uint8))


class Evt3Decoder(EvtDecoder):
    """Decode a stream of EVT 3.0 words (uint16); parameters as for :class:`EvtDecoder`.

    The words TIME_HIGH, TIME_LOW, ADDR_Y and twice ADDR_X:

    >>> import numpy as np
    >>> decoder = Evt3Decoder()
    >>> x, y, t, p = decoder.decode(np.array([0x8001, 0x6005, 0x0007, 0x2803, 0x2004], np.uint16))
    >>> x.tolist(), y.tolist(), t.tolist(), p.tolist()
    ([3, 4], [7, 7], [4101, 4101], [True, False])
    """

    word_dtype = np.dtype("<u2")
    _name = _kernel_module = "evt3"
    _channel_mask = 0xF
    clock_bits = 24


class Evt2Decoder(EvtDecoder):
    """Decode a stream of EVT 2.0 words (uint32); parameters as for :class:`EvtDecoder`."""

    word_dtype = np.dtype("<u4")
    _name = _kernel_module = "evt2"


class Evt21Decoder(EvtDecoder):
    """Decode a stream of EVT 2.1 words (uint64).

    Parameters
    ----------
    legacy : bool
        The two 32-bit halves are swapped, as Gen4.1 and IMX636 sensors send them.
    t_base, keep_triggers
        As for :class:`EvtDecoder`.
    """

    word_dtype = np.dtype("<u8")
    _name, _kernel_module = "evt21", "evt2"

    def __init__(
        self, *, legacy: bool = False, t_base: int = 0, keep_triggers: bool = True
    ) -> None:
        super().__init__(t_base=t_base, keep_triggers=keep_triggers)
        self._legacy = legacy

    def _prepared(self, words: NDArray[Any]) -> NDArray[Any]:
        halves = super()._prepared(words).view("<u4").reshape(-1, 2)
        return halves if self._legacy else np.ascontiguousarray(halves[:, ::-1])
