"""Session: one open recording and its computations; runs in the server's event loop."""

import json
import math
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import plain_parameters
from evcrisp.io.reading import open_recording
from evcrisp.io.recording import OnError
from evcrisp.viewer.event_store import EventRate, EventStore, make_temp_dir
from evcrisp.viewer.requests import REGISTRIES, Request, check_duration, known_names
from evcrisp.viewer.sensor_store import SensorStore
from evcrisp.viewer.start_folder import find_recording, list_recordings
from evcrisp.viewer.worker import ComputeTask, ReadTask, SaveTask, WarmUp
from evcrisp.viewer.worker_queue import Job, JobTable, WorkerQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """Options of the viewer: the recording, and the initial selections on the page.

    Parameters
    ----------
    path : path
        The recording; without ``folder``, the server opens no other file.
    folder : path, optional
        Start folder: the page lists its recordings, and can open them.
    format, resolution, on_error, stream, start_us, duration_us, roi
        As for :func:`evcrisp.open`. With ``roi``, ``camera`` is that of the region.
    camera : Camera, optional
        Calibration for the motion model "rotation".
    window_us : int, optional
        Duration of a window. By default the windows are those of ``Windowing()``.
    method, motion, filter : str
        Names in the registries; ``filter`` "" for none. Objects and classes are refused, because
        another process computes: an own method or filter must come from an installed package.
    """

    path: Path
    folder: Path | None = None
    format: str | None = None
    resolution: tuple[int, int] | None = None
    on_error: OnError = "raise"
    stream: str | int | None = None
    start_us: int = 0
    duration_us: int | None = None
    roi: tuple[int, int, int, int] | None = None
    camera: Camera | None = None
    window_us: int | None = None
    method: str = "auto"
    motion: str = "auto"
    filter: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        if self.folder is not None:
            object.__setattr__(self, "folder", Path(self.folder))
            if not Path(self.folder).is_dir():
                raise ConfigError("must be a folder", parameter="folder", value=str(self.folder))
        if self.window_us is not None:
            check_duration("window_us", self.window_us)
        # A request checks the names.
        filter_name = "raw" if self.filter == "" else self.filter
        Request(kind="estimate", method=self.method, motion=self.motion, filter=filter_name)

    @property
    def opening(self) -> dict[str, Any]:
        """How the recording is opened."""
        names = ("format", "resolution", "on_error", "stream", "start_us", "duration_us", "roi")
        return {name: getattr(self, name) for name in names}

    def page_settings(self) -> dict[str, Any]:
        """Return title, menus and initial selections of the page as JSON types."""
        initial = {name: getattr(self, name) for name in REGISTRIES}
        return {
            "name": self.path.name,
            "choices": {
                f"{name}s": [
                    part for part in known_names(name) if (name, part) != ("filter", "raw")
                ]
                for name in REGISTRIES
            },
            "options": {name: part_options(name) for name in ("method", "filter")},
            "has_folder": self.folder is not None,
            "start": {
                **({} if self.window_us is None else {"window": self.window_us}),
                "auto": self.window_us is None,
                **initial,
            },
        }


def part_options(registry: str) -> dict[str, dict[str, Any]]:
    """Return the parameters that the page can change, with defaults, by the name of the part.

    JSON has no infinity: such a default is None, which the page shows as chosen by the part.
    """
    return {
        name: {key: _json_number(value) for key, value in plain_parameters(kind).items()}
        for name, kind in REGISTRIES[registry].items()
    }


def _json_number(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(slots=True, eq=False)
class Session:
    """Reads the recording, accepts requests, and keeps results."""

    options: ViewOptions
    folder: Path = field(default_factory=lambda: Path(make_temp_dir()))
    jobs: JobTable = field(default_factory=JobTable)
    queues: dict[str, WorkerQueue] = field(default_factory=dict)
    read_job: Job = field(init=False)
    serial: int = 0  # of the open recording; pages of an earlier one must not get its data

    def __post_init__(self) -> None:
        self._prepare()

    def _prepare(self) -> None:
        task = ReadTask(str(self.options.path), str(self.folder), self.options.opening)
        self.read_job = Job(task)

    async def start(self) -> None:
        """Start the worker processes and read the recording."""
        self.queues = {"window": WorkerQueue(), "recording": WorkerQueue()}
        for queue in self.queues.values():
            queue.start()
        self.queues["recording"].submit(self.read_job)
        self.queues["window"].submit(Job(WarmUp()))

    async def open(self, name: str) -> None:
        """Open another recording of the start folder instead of the present one."""
        path = find_recording(self.options.folder, name)
        # Format, sensor size, stream and part were given for the first recording only.
        camera = self.options.camera if self.options.roi is None else None
        options = ViewOptions(
            path=path, folder=self.options.folder, on_error=self.options.on_error, camera=camera,
            window_us=self.options.window_us, method=self.options.method,
            motion=self.options.motion, filter=self.options.filter,
        )  # fmt: skip
        open_recording(path, **options.opening).close()
        await self.stop()
        self.options, self.folder, self.jobs = options, Path(make_temp_dir()), JobTable()
        self.serial += 1
        self._prepare()
        await self.start()

    def recordings(self) -> list[str]:
        """Return the names of the recordings in the start folder."""
        return [] if self.options.folder is None else list(list_recordings(self.options.folder))

    @property
    def sensors(self) -> SensorStore:
        """Frames and IMU samples that have been read."""
        return SensorStore(self.folder, self.store.t_first)

    async def stop(self) -> None:
        """Stop the worker processes and remove the temporary files."""
        for queue in self.queues.values():
            await queue.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def store(self) -> EventStore:
        """Events that have been read so far."""
        content = self.read_job.content
        return content["store"] if content else EventStore(str(self.folder), (1, 1))

    def facts(self) -> dict[str, Any]:
        """Return facts of the recording, and the progress of reading, for the page."""
        job, content = self.read_job, self.read_job.content or {}
        return {
            **recording_facts(self.options.path.name, self.store, content),
            "version": job.version,
            "is_known": bool(content),
            "error": job.error,
            "is_complete": job.state in ("done", "failed"),
        }

    def submit(self, request: Request) -> Job:
        """Return the job of a request: a new one, or a present one with the same key."""
        store = self.store
        if request.queue == "recording" and not self.facts()["is_complete"]:
            raise ConfigError("The recording is still being read. Try again when that is done.")
        key = json.dumps([store.n_events, asdict(request)])
        if (present := self.jobs.find(key)) is not None:
            present.n_clients += 1
            return present
        job = Job(self._task(request), key)
        self.queues[request.queue].submit(job)
        return self.jobs.add(job)

    def _task(self, request: Request) -> ComputeTask | SaveTask:
        options = self.options
        if not request.kind.startswith("save"):
            return ComputeTask(self.store, request, options.camera)
        return SaveTask(
            str(options.path), str(self.folder), options.opening, request, options.camera
        )

    async def cancel(self, job: Job) -> None:
        """Cancel a job of :meth:`submit`, unless another client needs it."""
        job.n_clients -= 1
        if job.n_clients <= 0:
            await self.queues[job.task.request.queue].cancel(job)


def recording_facts(name: str, store: EventStore, content: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a recording for a live or exported page."""
    return {
        "name": name,
        "format": content.get("format", ""),
        "width": store.resolution[0],
        "height": store.resolution[1],
        "n_events": store.n_events,
        "t_first_us": store.t_first,
        "duration_us": store.duration_us,
        "has_labels": store.has_labels,
        "windows": store.windows().tolist(),
        "rate": content.get("rate") or EventRate().as_dict(),
        "share": content.get("share"),
        "notes": content.get("notes", []),
        "is_known": True,
        "is_complete": True,
        "error": "",
    }
