"""Pass items between threads in bounded memory; the newest items are kept."""

import threading
from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedQueue(Generic[T]):
    """Queue of items with sizes. When it is full, the oldest items are dropped, or `put` waits.

    `grow` makes it larger, up to ``largest_size``.

    >>> queue = BoundedQueue[str](max_size=10)
    >>> for word in ("old", "newer", "newest"):
    ...     queue.put(word, len(word))
    >>> queue.end()
    >>> list(queue), queue.dropped_size
    (['newest'], 8)
    """

    def __init__(
        self, max_size: int, *, can_wait: bool = False, largest_size: int | None = None
    ) -> None:
        self.dropped_size = 0
        self._max_size, self._can_wait = max_size, can_wait
        self._largest_size = max_size if largest_size is None else largest_size
        self._items: deque[tuple[T, int]] = deque()
        self._size = 0
        self._is_ended = False
        self._changed = threading.Condition()

    def put(self, item: T, size: int) -> None:
        """Append an item. One that is larger than the queue is accepted if the queue is empty."""
        with self._changed:
            while self._items and self._size + size > self._max_size and not self._is_ended:
                if self._can_wait:
                    self._changed.wait()
                else:
                    self.dropped_size += self._pop()[1]
            if self._is_ended:
                self.dropped_size += size
                return
            self._items.append((item, size))
            self._size += size
            self._changed.notify_all()

    def grow(self, size: int) -> None:
        """Accept items of this size together, or of the largest one, from now on."""
        with self._changed:
            self._max_size = max(self._max_size, min(size, self._largest_size))

    @property
    def max_size(self) -> int:
        """Size of the items that it accepts."""
        return self._max_size

    def end(self) -> None:
        """Accept no more items; the iteration ends after those in the queue."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()

    def clear(self) -> None:
        """Drop all items."""
        with self._changed:
            while self._items:
                self.dropped_size += self._pop()[1]
            self._changed.notify_all()

    @property
    def is_finished(self) -> bool:
        """Whether the queue has ended, and has no item left."""
        with self._changed:
            return self._is_ended and not self._items

    @property
    def size(self) -> int:
        """Size of all items that wait."""
        with self._changed:
            return self._size

    def get(self, timeout_s: float | None = None) -> T | None:
        """Return the oldest item; None at the end, or if none comes within a time."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._items or self._is_ended,
                None if timeout_s is None else max(timeout_s, 0.0),
            )
            if not self._items:
                return None
            item, _ = self._pop()
            self._changed.notify_all()
            return item

    def __iter__(self) -> Iterator[T]:
        while (item := self.get()) is not None:
            yield item

    def _pop(self) -> tuple[T, int]:
        item, size = self._items.popleft()
        self._size -= size
        return item, size
