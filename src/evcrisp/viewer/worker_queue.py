"""Queues of jobs with one worker process each; all of it runs in the server's event loop."""

import asyncio
import contextlib
import os
import pickle
import secrets
import sys
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any

from evcrisp.core.errors import EvError
from evcrisp.viewer.worker import LENGTH

#: Limits of the finished jobs whose results are kept: number and bytes.
MAX_KEPT, MAX_KEPT_BYTES = 64, 128 << 20

FINAL_STATES = ("done", "failed", "cancelled")


@dataclass(slots=True, eq=False)
class Job:
    """One computation: waiting, running, done, failed or cancelled."""

    task: Any
    key: str = ""
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: str = "waiting"
    share: float | None = None  # progress, 0 to 1; None: not known
    content: Any = None
    error: str = ""
    version: int = 0
    n_clients: int = 1  # requests for this job that were not cancelled
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def update(self, **fields: Any) -> None:
        """Set fields and wake the waiting coroutines."""
        for name, value in fields.items():
            setattr(self, name, value)
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_until_final(self, timeout_s: float) -> None:
        """Wait for the end of the job, or for the timeout."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.state not in FINAL_STATES:
                    await self._changed.wait()

    async def wait_for_change(self, version: int, timeout_s: float) -> None:
        """Wait for a change since ``version``, or for the timeout."""
        if self.version == version and self.state not in FINAL_STATES:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), timeout_s)


class JobTable:
    """Jobs by id; the oldest finished jobs are dropped above a limit."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def add(self, job: Job) -> Job:
        """Add a job and return it."""
        self._jobs[job.id] = job
        finished = [job for job in self._jobs.values() if job.state in FINAL_STATES]
        n_bytes = sum(len(job.content or b"") for job in finished)
        for n_dropped, old in enumerate(finished):
            if len(finished) - n_dropped <= MAX_KEPT and n_bytes <= MAX_KEPT_BYTES:
                break
            n_bytes -= len(old.content or b"")
            del self._jobs[old.id]
        return job

    def get(self, job_id: str) -> Job | None:
        """Return a job by its id, or None."""
        return self._jobs.get(job_id)

    def find(self, key: str) -> Job | None:
        """Return a job with the same key that has not failed and was not cancelled."""
        for job in reversed(self._jobs.values()):
            if job.key == key and job.state not in ("failed", "cancelled"):
                self._jobs.move_to_end(job.id)
                return job
        return None


#: Jobs that can wait in a queue; a page submits at most three to one queue.
MAX_WAITING = 4
#: Time for a cancelled job to finish before its process is killed, s; a new process takes longer.
GRACE_S = 0.4


class BusyError(EvError):
    """A queue is full."""


class WorkerQueue:
    """A queue of jobs and its worker process, which is replaced after it was killed."""

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to process jobs."""
        self._loop = asyncio.create_task(self._process_jobs())

    def submit(self, job: Job) -> None:
        """Append a job, or raise if the queue is full."""
        if len(self._waiting) >= MAX_WAITING:
            raise BusyError(
                f"{MAX_WAITING} computations wait already. Cancel one, or try again in a moment."
            )
        self._waiting.append(job)
        self._wake.set()

    async def cancel(self, job: Job) -> None:
        """Cancel a job; kill its process if it does not finish within ``GRACE_S``."""
        if job.state in FINAL_STATES:
            return
        if job in self._waiting:
            self._waiting.remove(job)
        job.update(state="cancelled")
        if self._running is job:
            asyncio.get_running_loop().call_later(GRACE_S, self._kill, job)

    def _kill(self, job: Job | None) -> None:
        """Kill the process, if it runs this job."""
        process = self._process
        if self._running is job and process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()

    async def stop(self) -> None:
        """Stop processing and kill the process."""
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
        self._kill(self._running)
        if self._process is not None:
            await self._process.wait()

    async def _process_jobs(self) -> None:
        while True:
            while not self._waiting:
                self._wake.clear()
                await self._wake.wait()
            job = self._running = self._waiting.popleft()
            job.update(state="running")
            try:
                await self._run(job)
            except (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError):
                await self._report_crash(job)
            finally:
                self._running = None

    async def _run(self, job: Job) -> None:
        process = await self._ensure_process()
        if job.state in FINAL_STATES:  # cancelled while the process started
            return
        await _send(process, job.task)
        kind = "progress"
        while kind == "progress":
            kind, content = await _receive(process)
            if job.state != "running":
                continue
            if kind == "done":
                job.update(state="done", content=content)
            elif kind == "failed":
                job.update(state="failed", error=content)
            else:
                share = content if isinstance(content, float) else None
                job.update(share=share, content=content if share is None else None)

    async def _ensure_process(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # import nothing from the current folder
                "-c",
                f"import sys; sys.path[:] = {sys.path!r}; "
                "from evcrisp.viewer.worker import run; run()",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=1 << 24,
                # Ctrl+C reaches the whole group of the terminal; only the server handles it.
                start_new_session=os.name == "posix",
            )
        return self._process

    async def _report_crash(self, job: Job) -> None:
        process, self._process = self._process, None
        code = None if process is None else await process.wait()
        if job.state not in FINAL_STATES:
            job.update(
                state="failed",
                error=f"The computation ended unexpectedly (exit code {code}), perhaps for lack of "
                "memory. Try a shorter window.",
            )


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
    # Unpickling is safe: only our own process writes to this pipe.
    kind, content = pickle.loads(await stream.readexactly(size))
    return kind, content
