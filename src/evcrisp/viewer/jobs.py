"""Jobs: computations with a state, and the table of jobs that the page can query."""

import asyncio
import contextlib
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

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
        self._drop_oldest()
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

    def _drop_oldest(self) -> None:
        finished = [job for job in self._jobs.values() if job.state in FINAL_STATES]
        n_bytes = sum(len(job.content or b"") for job in finished)
        for n_dropped, job in enumerate(finished):
            if len(finished) - n_dropped <= MAX_KEPT and n_bytes <= MAX_KEPT_BYTES:
                return
            n_bytes -= len(job.content or b"")
            del self._jobs[job.id]
