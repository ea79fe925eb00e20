"""Packets in the order of their arrival, cut where the wall clock ends a window."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice

import numpy as np

from evcrisp.core.events import Events
from evcrisp.streaming.bounded_queue import BoundedQueue

#: Packets whose latency is kept: the newest.
_MAX_LATENCIES = 100_000
#: Events that wait, in windows: a method that is fast enough on average may take twice as long at times.
_WINDOWS_THAT_WAIT = 2
#: Time that a packet may be late before the wall clock ends a window without it, s.
_LATE_S = 0.010


class PacketStream:
    """Packets of a queue for a method, and the latency of those whose labels are out."""

    def __init__(self, queue: BoundedQueue[tuple[Events, float]]) -> None:
        self.is_ended = False
        self._queue = queue
        self._waiting: deque[tuple[int, float]] = deque()  # time of the last event, us; arrival, s
        self._lock = threading.Lock()  # of the latencies
        self._newest_s = 0.0  # arrival of the packet that was taken last
        self._latencies_s: deque[float] = deque(maxlen=_MAX_LATENCIES)

    def __iter__(self) -> Iterator[Events]:
        """Yield the events of all packets."""
        return self.until_silence(None)

    def until_silence(self, longest_s: float | None) -> Iterator[Events]:
        """Yield events until one has waited for so long, and no other packet is there.

        Call it again for the packets after it, until `is_ended`.
        """
        while True:
            timeout_s = None
            if longest_s is not None and self._waiting:
                timeout_s = self._waiting[0][1] + longest_s + _LATE_S - time.monotonic()
            found = self._queue.get(timeout_s)
            if found is None:
                self.is_ended = self._queue.is_finished
                return
            events, self._newest_s = found
            self._waiting.append((int(events.t[-1]), self._newest_s))
            yield events

    def make_room(self, n_window: int) -> None:
        """Let as many events wait as come while a window of this length gets its labels, or twice as many."""
        self._queue.grow(_WINDOWS_THAT_WAIT * n_window)

    @property
    def lag_s(self) -> float:
        """Time since the arrival of the newest packet that was taken, s."""
        return time.monotonic() - self._newest_s

    def labeled(self, t_last: int) -> None:
        """Note that the labels of all events up to a time are out."""
        now = time.monotonic()
        with self._lock:
            while self._waiting and self._waiting[0][0] <= t_last:
                self._latencies_s.append(now - self._waiting.popleft()[1])

    def latency_ms(self, share: float, n_newest: int | None = None) -> float | None:
        """Return a quantile of the latencies of all packets, or of the newest, ms."""
        with self._lock:
            first = len(self._latencies_s) - n_newest if n_newest else 0
            values = list(islice(self._latencies_s, max(first, 0), None))
        return 1000.0 * float(np.quantile(values, share)) if values else None
