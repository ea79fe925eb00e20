"""One opened recording and the work on it; lives in the server's event loop."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.filters import FILTERS
from evcrisp.io.recording import OnError
from evcrisp.motion import MOTION_MODELS
from evcrisp.viewer.event_store import Rate, Spool
from evcrisp.viewer.jobs import Job, JobTable
from evcrisp.viewer.requests import Request
from evcrisp.viewer.temp_dir import scratch_folder
from evcrisp.viewer.worker import ComputeTask, ReadTask
from evcrisp.viewer.worker_queue import Lane


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """What is opened, and with what the page begins.

    Parameters
    ----------
    path : Path
        The recording. It is the only file that is ever opened.
    format, resolution, on_error
        As for :func:`evcrisp.open`.
    camera : Camera, optional
        Calibration for the motion model "rotation".
    window_us : int
        Length of a window at the start.
    method, motion, filter : str
        What is chosen at the start; ``filter`` "" for none.
    """

    path: Path
    format: str | None = None
    resolution: tuple[int, int] | None = None
    on_error: OnError = "raise"
    camera: Camera | None = None
    window_us: int = 30_000
    method: str = "auto"
    motion: str = "translation"
    filter: str = ""

    def __post_init__(self) -> None:
        Request(
            kind="estimate",
            length_us=self.window_us,
            method=self.method,
            motion=self.motion,
            filter=self.filter or "baf",
        )


def choices() -> dict[str, list[str]]:
    """Return the names that the page offers."""
    return {
        "methods": list(ESTIMATORS),
        "motions": list(MOTION_MODELS),
        "filters": [name for name in FILTERS if name != "raw"],
    }


@dataclass(slots=True, eq=False)
class Session:
    """Reads the recording, takes requests, and keeps what was computed."""

    options: ViewOptions
    folder: Path = field(default_factory=lambda: Path(scratch_folder()))
    jobs: JobTable = field(default_factory=JobTable)
    lanes: dict[str, Lane] = field(default_factory=dict)
    reading: Job | None = None

    async def start(self) -> None:
        """Begin to read."""
        options = self.options
        self.lanes = {"window": Lane(), "recording": Lane()}
        for lane in self.lanes.values():
            lane.start()
        task = ReadTask(
            str(options.path),
            str(self.folder),
            options.format,
            options.resolution,
            options.on_error,
        )
        self.reading = Job(task)
        self.lanes["recording"].submit(self.reading)
        self.lanes["window"].warm_up()

    async def stop(self) -> None:
        """End all work and remove the files."""
        for lane in self.lanes.values():
            await lane.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def spool(self) -> Spool:
        """What can be shown by now."""
        content = None if self.reading is None else self.reading.content
        if not content:
            return Spool(str(self.folder), (1, 1))
        return content["spool"]

    def facts(self) -> dict[str, Any]:
        """Return what the page shows of the recording."""
        job = self.reading
        content = (job.content if job is not None else None) or {}
        facts = recording_facts(self.options.path.name, self.spool, content)
        state = "waiting" if job is None else job.state
        return {
            **facts,
            "version": 0 if job is None else job.version,
            "is_known": bool(content),
            "error": "" if job is None else job.error,
            "is_complete": state in ("done", "failed"),
        }

    def submit(self, request: Request) -> Job:
        """Return the job for a request: a new one, or one that does the same already."""
        spool = self.spool
        if request.lane == "recording" and not self.facts()["is_complete"]:
            raise ConfigError("The recording is still being read. Try again when that is done.")
        key = json.dumps([spool.n_events, request.as_dict()])
        if (known := self.jobs.known(key)) is not None:
            known.n_wanting += 1
            return known
        job = Job(ComputeTask(spool, request, self.options.camera), key)
        self.lanes[request.lane].submit(job)
        return self.jobs.add(job)

    async def cancel(self, job: Job) -> None:
        """End a job of :meth:`submit`, unless somebody else has asked for the same."""
        job.n_wanting -= 1
        if job.n_wanting <= 0:
            await self.lanes[job.task.request.lane].cancel(job)


def recording_facts(name: str, spool: Spool, content: dict[str, Any]) -> dict[str, Any]:
    """Return what both kinds of page tell of a recording."""
    return {
        "name": name,
        "format": content.get("format", ""),
        "width": spool.resolution[0],
        "height": spool.resolution[1],
        "n_events": spool.n_events,
        "t_first_us": spool.t_first,
        "duration_us": spool.duration_us,
        "has_labels": spool.has_labels,
        "rate": content.get("rate") or Rate().as_dict(),
        "share": content.get("share"),
        "notes": content.get("notes", []),
        "is_known": True,
        "is_complete": True,
        "error": "",
    }
