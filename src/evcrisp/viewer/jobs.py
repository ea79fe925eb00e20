"""Computations from waiting to their end, and the table in which the page finds them."""

import asyncio
import contextlib
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

#: Finished computations whose results are kept, in number and in bytes.
MAX_KEPT, MAX_KEPT_BYTES = 64, 128 << 20

FINAL = ("done", "failed", "cancelled")


@dataclass(slots=True, eq=False)
class Job:
    """One computation, from waiting to its end."""

    task: Any
    key: str = ""
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: str = "waiting"
    share: float | None = None
    content: Any = None
    error: str = ""
    version: int = 0
    n_wanting: int = 1  # pages that have asked for it and not cancelled
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def change(self, **fields: Any) -> None:
        """Set fields and wake whoever waits."""
        for name, value in fields.items():
            setattr(self, name, value)
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def finished(self, timeout_s: float) -> None:
        """Wait until it has ended, or for so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.state not in FINAL:
                    await self._changed.wait()

    async def after(self, version: int, timeout_s: float) -> None:
        """Wait until something has changed since a version, or for so long."""
        if self.version == version and self.state not in FINAL:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), timeout_s)


class JobTable:
    """The jobs that the page knows, by id; results of finished ones stay for a while."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def add(self, job: Job) -> Job:
        """Remember a job."""
        self._jobs[job.id] = job
        self._forget()
        return job

    def get(self, job_id: str) -> Job | None:
        """Return a job, or None."""
        return self._jobs.get(job_id)

    def known(self, key: str) -> Job | None:
        """Return a job for the same thing that is done or will be."""
        for job in reversed(self._jobs.values()):
            if job.key == key and job.state not in ("failed", "cancelled"):
                self._jobs.move_to_end(job.id)
                return job
        return None

    def _forget(self) -> None:
        finished = [job for job in self._jobs.values() if job.state in FINAL]
        n_bytes = sum(len(job.content or b"") for job in finished)
        for job in finished:
            if len(finished) <= MAX_KEPT and n_bytes <= MAX_KEPT_BYTES:
                return
            n_bytes -= len(job.content or b"")
            finished = finished[1:]
            del self._jobs[job.id]
