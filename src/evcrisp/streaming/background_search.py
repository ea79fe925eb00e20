"""Search motions in another process, beside the labels.

A thread would hold up the labels: searches are mostly compiled, but not all.
"""

import logging
import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any, cast

from evcrisp.core.errors import EvError
from evcrisp.core.windows import Window
from evcrisp.estimators.result import Estimate
from evcrisp.streaming.pace import Pace

logger = logging.getLogger(__name__)

#: Time that the process has to end, s.
_END_S = 2.0
#: Longest time in which kernels are loaded or compiled, s.
_START_S = 300.0


class BackgroundSearch:
    """One search at a time; windows that come meanwhile are not searched.

    ``method`` is what `search_process` needs to make a tracker: estimator, motion, camera.
    """

    def __init__(self, method: tuple[Any, ...], pace: Pace) -> None:
        self._method, self._pace = method, pace
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready, self._is_busy, self._is_closed = threading.Event(), False, False
        self._requests: SimpleQueue[Any] = SimpleQueue()
        self._found: Estimate | None = None
        self._failure: str | None = None
        self._lock = threading.Lock()

    def start(self, *, wait: bool = False) -> None:
        """Start the process; ``wait`` until its kernels are loaded."""
        if self._process is None:
            data = pickle.dumps(self._method)
            code = (
                f"import sys; sys.path[:] = {sys.path!r}; "
                "from evcrisp.streaming.search_process import run; run()"
            )
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", code],  # imports nothing from the current folder
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Ctrl+C reaches the whole group of the terminal; only this process handles it.
                start_new_session=os.name == "posix",
            )
            _send(self._process, data)
            self._requests = SimpleQueue()
            for work in (self._receive, self._pass_on):
                arguments = self._process, self._requests
                threading.Thread(target=work, args=arguments, daemon=True).start()
        if wait:
            self._is_ready.wait(_START_S)

    @property
    def is_busy(self) -> bool:
        """Whether a search is under way."""
        return self._is_busy

    def offer(self, window: Window, resolution: tuple[int, int]) -> None:
        """Search the motion of a window, or skip it while another search or its estimate is not taken."""
        self.start()
        if self._is_busy or self._found is not None or not self._is_ready.is_set():
            return
        self._is_busy = True
        self._requests.put((window, resolution))

    def found(self) -> Estimate | None:
        """Return an estimate that has come since the last call; raise if the method failed."""
        with self._lock:
            if self._failure is not None:
                raise EvError(f"The search for motions failed: {self._failure}")
            found, self._found = self._found, None
            return found

    def close(self) -> None:
        """End the process."""
        self._is_closed = True
        if self._process is not None:
            self._process.kill()
            _end(self._process)

    def _pass_on(self, process: subprocess.Popen[bytes], requests: SimpleQueue[Any]) -> None:
        """Send windows to the process, which takes longer than a pipe holds; None ends the thread."""
        while (request := requests.get()) is not None:
            _send(process, pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL))

    def _receive(self, process: subprocess.Popen[bytes], requests: SimpleQueue[Any]) -> None:
        """Take estimates from the process; the thread ends with it."""
        pipe = cast(IO[bytes], process.stdout)
        with pipe:
            while len(head := pipe.read(8)) == 8:
                size = int.from_bytes(head, "little")
                if len(data := pipe.read(size)) < size:
                    break  # killed while it answered
                kind, content = pickle.loads(data)
                with self._lock:
                    if kind == "ready":
                        self._is_ready.set()
                    elif kind == "failed":
                        self._failure = content
                    else:
                        self._found, cost_s = content
                        self._pace.note(cost_s, len(self._found.window.events))
                        self._is_busy = False
        requests.put(None)
        if not self._is_closed:
            logger.warning("The search for motions ended unexpectedly; it is started again.")
            _end(process)
            self._is_ready.clear()
            self._is_busy, self._process = False, None


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    pipe = cast(IO[bytes], process.stdin)
    with suppress(OSError, ValueError):  # it has ended; `_receive` notes it
        pipe.write(len(data).to_bytes(8, "little") + data)
        pipe.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Free what a process that ends has held."""
    with suppress(OSError):  # bytes that it did not take
        cast(IO[bytes], process.stdin).close()
    process.wait(_END_S)
