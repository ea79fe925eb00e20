"""Compute the next items of an iterator while the last one is used."""

import queue
import threading
from collections.abc import Generator, Iterator
from contextvars import copy_context
from typing import TypeVar

Item = TypeVar("Item")

_END = object()

#: Time after which a thread looks whether its items are still wanted, s.
_PATIENCE_S = 0.1


def ahead(items: Iterator[Item], n: int = 1) -> Generator[Item]:
    """Yield the items of an iterator, which runs in a thread, up to ``n`` items ahead.

    What it raises is raised here, after the items before. If this iterator is closed, so is ``items``.
    """
    found: queue.Queue[tuple[object, BaseException | None]] = queue.Queue(n)
    is_over = threading.Event()

    def put(item: object, error: BaseException | None = None) -> bool:
        while not is_over.is_set():
            try:
                found.put((item, error), timeout=_PATIENCE_S)
            except queue.Full:
                continue
            return True
        return False

    def fill() -> None:
        try:
            for item in items:
                if not put(item):
                    return
            put(_END)
        except BaseException as error:  # raised by the reader instead
            put(_END, error)
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    thread = threading.Thread(target=copy_context().run, args=(fill,), daemon=True)
    thread.start()
    try:
        while True:
            item, error = found.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item  # ty: ignore[invalid-yield]
    finally:
        is_over.set()
        thread.join()
