"""Items computed ahead are those of the iterator, with its errors, and it ends with its reader."""

import threading
import time

import pytest

from evcrisp.pipeline.on_device.ahead import ahead


def test_items_in_order():
    assert list(ahead(iter(range(50)), 3)) == list(range(50))
    assert list(ahead(iter(()))) == []
    assert list(ahead(iter([None, None]))) == [None, None]


def test_the_next_item_is_computed_while_one_is_used():
    started = [threading.Event() for _ in range(3)]

    def items():
        for event in started:
            event.set()
            yield event

    found = ahead(items())
    next(found)
    assert started[1].wait(10.0)
    found.close()


def test_errors_come_after_the_items_before():
    def items():
        yield 1
        raise KeyboardInterrupt("stop")

    found = ahead(items())
    assert next(found) == 1
    with pytest.raises(KeyboardInterrupt, match="stop"):
        next(found)


def test_closing_ends_the_iterator_and_the_thread():
    closed, before = [], threading.active_count()

    def items():
        try:
            while True:
                yield time.monotonic()
        finally:
            closed.append(True)

    found = ahead(items(), 2)
    next(found)
    found.close()
    assert closed == [True]
    assert threading.active_count() == before
