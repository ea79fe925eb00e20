"""Fixtures of the live tests: waiting, free ports, threads that end with the test."""

import socket
import threading
import time

import pytest

import evcrisp

#: Time limit, s: far above the usual duration, so that only a hanging program fails.
LONG_S = 60


@pytest.fixture
def wait_until():
    """Return a function that waits for a condition."""

    def wait(condition):
        deadline = time.monotonic() + LONG_S
        while not condition():
            assert time.monotonic() < deadline, "the condition did not come"
            time.sleep(0.002)

    return wait


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class LiveThread:
    """A live session in a thread."""

    def __init__(self, *args, **options):
        self.stop = threading.Event()
        self.parts, self.error, self.summary = [], None, None
        options = {"method": "raw", "on_part": self.parts.append, "stop": self.stop, **options}
        self._thread = threading.Thread(target=self._run, args=(args, options), daemon=True)
        self._thread.start()

    def _run(self, args, options):
        try:
            self.summary = evcrisp.live(*args, **options)
        except Exception as error:
            self.error = error

    def result(self):
        """Wait for the end; return the summary, or raise the error of the session."""
        self._thread.join(LONG_S)
        assert not self._thread.is_alive(), "the session did not end"
        if self.error is not None:
            raise self.error
        return self.summary


@pytest.fixture
def start_live():
    """Return a function that starts a session; all end with the test."""
    started = []

    def start(*args, **options):
        started.append(LiveThread(*args, **options))
        return started[-1]

    yield start
    for session in started:
        session.stop.set()
