"""Queues of computations, one process each; everything here runs in the server's event loop."""

import asyncio
import contextlib
import os
import pickle
import sys
from collections import deque
from typing import Any

from evcrisp.core.errors import EvError
from evcrisp.viewer.jobs import FINAL, Job
from evcrisp.viewer.worker import LENGTH, WarmUp

#: Computations that may wait in a lane.
MAX_WAITING = 4
#: A running computation that is not wanted any more may end by itself for so long, s.
GRACE_S = 0.4


class BusyError(EvError):
    """Too much was asked for at once."""


class Lane:
    """A queue and the process that works on it; the process is replaced when it is ended."""

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to work."""
        self._loop = asyncio.create_task(self._work())

    def submit(self, job: Job) -> None:
        """Put a job into the queue, or raise if that is full."""
        if len(self._waiting) >= MAX_WAITING:
            raise BusyError(
                f"{MAX_WAITING} computations wait already. Cancel one, or try again in a moment."
            )
        self._waiting.append(job)
        self._wake.set()

    async def cancel(self, job: Job) -> None:
        """End a job; one that runs gets a moment to end by itself, then its process is ended."""
        if job.state in FINAL:
            return
        if job in self._waiting:
            self._waiting.remove(job)
        job.change(state="cancelled")
        if self._running is job:
            asyncio.get_running_loop().call_later(GRACE_S, self._end_if_running, job)

    def _end_if_running(self, job: Job) -> None:
        if self._running is job:
            self._kill()

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def stop(self) -> None:
        """End the work and the process."""
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
        self._kill()
        if self._process is not None:
            await self._process.wait()

    async def _work(self) -> None:
        while True:
            while not self._waiting:
                self._wake.clear()
                await self._wake.wait()
            job = self._running = self._waiting.popleft()
            job.change(state="running")
            try:
                await self._run(job)
            except (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError):
                await self._say_died(job)
            finally:
                self._running = None

    async def _run(self, job: Job) -> None:
        process = await self._started()
        if job.state in FINAL:  # cancelled while the process started
            return
        await _send(process, job.task)
        while True:
            kind, content = await _receive(process)
            if kind == "progress":
                share = content if isinstance(content, float) else None
                if job.state == "running":
                    job.change(share=share, content=content if share is None else None)
                continue
            if job.state == "running":
                if kind == "done":
                    job.change(state="done", content=content)
                else:
                    job.change(state="failed", error=content)
            return

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # nothing is imported from the folder that happens to be the current one
                "-c",
                f"import sys; sys.path[:] = {sys.path!r}; "
                "from evcrisp.viewer.worker import run; run()",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=1 << 24,
                # A signal to the terminal's group is the server's to handle.
                start_new_session=os.name == "posix",
            )
        return self._process

    async def _say_died(self, job: Job) -> None:
        process, self._process = self._process, None
        code = None if process is None else await process.wait()
        if job.state not in FINAL:
            job.change(
                state="failed",
                error=f"The computation ended unexpectedly (exit code {code}); was memory short? "
                "Try a shorter window.",
            )

    def warm_up(self) -> None:
        """Let the process import what it will need."""
        self.submit(Job(WarmUp()))


async def _send(process: asyncio.subprocess.Process, task: Any) -> None:
    stream = process.stdin
    if stream is None:
        raise BrokenPipeError
    data = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(data)) + data)
    await stream.drain()


async def _receive(process: asyncio.subprocess.Process) -> tuple[str, Any]:
    stream = process.stdout
    if stream is None:
        raise BrokenPipeError
    (size,) = LENGTH.unpack(await stream.readexactly(LENGTH.size))
    # What comes through this pipe was written by our own process.
    kind, content = pickle.loads(await stream.readexactly(size))
    return kind, content
