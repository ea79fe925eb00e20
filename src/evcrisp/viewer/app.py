"""Routes of the server."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evcrisp.core.errors import ConfigError, EvError
from evcrisp.viewer.access import AccessControl, App
from evcrisp.viewer.page import MEDIA_TYPES, live_page, live_policy, static_files
from evcrisp.viewer.requests import Request, check_window, parse_whole_number
from evcrisp.viewer.session import Session
from evcrisp.viewer.worker_queue import FINAL_STATES, BusyError, Job

if TYPE_CHECKING:
    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response

#: Longest wait of a progress request for a change, s; browsers and proxies end longer ones.
POLL_S = 10.0
#: A job that ends within this time is answered with its result, s; it saves two requests.
DIRECT_RESULT_S = 0.25


def make_app(session: Session, *, token: str, port: int) -> App:
    """Return the application of the server; the path of every address starts with the token."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    handlers = Handlers(session)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncGenerator[None, None]:
        await session.start()
        try:
            yield
        finally:
            await session.stop()

    app = Starlette(
        routes=[
            Route("/", handlers.page),
            Route("/static/{name:path}", handlers.static),
            Route("/api/facts", handlers.facts),
            Route("/api/events", handlers.events),
            Route("/api/jobs", handlers.submit, methods=["POST"]),
            Route("/api/jobs/{id}", handlers.job, methods=["GET", "DELETE"]),
            Route("/api/jobs/{id}/result", handlers.result),
            Route("/api/jobs/{id}/file", handlers.file),
            Route("/api/sensors", handlers.sensors),
            Route("/api/frame", handlers.frame),
            Route("/api/recordings", handlers.recordings),
            Route("/api/open", handlers.open, methods=["POST"]),
        ],
        # Deeply nested JSON raises RecursionError.
        exception_handlers=dict.fromkeys(
            (EvError, OSError, ValueError, RecursionError), _answer_error
        ),
        lifespan=lifespan,
    )
    return AccessControl(app, token=token, port=port)


async def _answer_error(request: "HttpRequest", error: Exception) -> "Response":
    return _json({"error": str(error)}, 429 if isinstance(error, BusyError) else 400)


def _json(content: Any, status: int = 200) -> "Response":
    from starlette.responses import JSONResponse

    return JSONResponse(content, status)


def _job_state(job: Job) -> dict[str, Any]:
    return {name: getattr(job, name) for name in ("id", "state", "share", "error", "version")}


class Handlers:
    """Request handlers, one per route."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def _binary(self, data: bytes) -> "Response":
        """Return data with the serial number of their recording, which the page compares."""
        from starlette.responses import Response

        headers = {"X-Recording": str(self._session.serial)}
        return Response(data, media_type="application/octet-stream", headers=headers)

    async def page(self, request: "HttpRequest") -> "Response":
        """Return the page."""
        from starlette.responses import HTMLResponse

        nonce = secrets.token_urlsafe(16)
        settings = {**self._session.options.page_settings(), "serial": self._session.serial}
        page = live_page(settings, nonce)
        return HTMLResponse(page, headers={"Content-Security-Policy": live_policy(nonce)})

    async def static(self, request: "HttpRequest") -> "Response":
        """Return a file of the page from a table; a path in a request never reaches the disk."""
        from starlette.responses import Response

        name = request.path_params["name"]
        data = static_files().get(name)
        kind = MEDIA_TYPES.get(name[name.rfind(".") :])
        if data is None or kind is None:
            return _json({"error": "Not found."}, 404)
        return Response(data, media_type=kind)

    async def facts(self, request: "HttpRequest") -> "Response":
        """Return facts of the recording; with ``after``, wait for a change since that version."""
        version = request.query_params.get("after")
        if version is not None:
            await self._session.read_job.wait_for_change(
                parse_whole_number(version, "after"), POLL_S
            )
        return _json(self._session.facts())

    async def sensors(self, request: "HttpRequest") -> "Response":
        """Return the times of frames, and the IMU trace."""
        return self._binary(self._session.sensors.bundle())

    async def frame(self, request: "HttpRequest") -> "Response":
        """Return a frame by its index."""
        index = parse_whole_number(request.query_params.get("index"), "index")
        return self._binary(self._session.sensors.frame(index))

    async def recordings(self, request: "HttpRequest") -> "Response":
        """Return the names of the recordings in the start folder."""
        from starlette.concurrency import run_in_threadpool

        return _json(await run_in_threadpool(self._session.recordings))

    async def open(self, request: "HttpRequest") -> "Response":
        """Open another recording of the start folder, by its name in the list."""
        fields = await request.json()
        name = fields.get("name") if isinstance(fields, dict) else None
        if not isinstance(name, str):
            raise ConfigError("A request to open a recording must be an object with a text 'name'.")
        await self._session.open(name)
        return _json({"name": name})

    async def events(self, request: "HttpRequest") -> "Response":
        """Return the events of a window."""
        from starlette.concurrency import run_in_threadpool

        query = request.query_params
        start = parse_whole_number(query.get("start"), "start")
        duration = parse_whole_number(query.get("duration"), "duration")
        check_window(start, duration)
        return self._binary(await run_in_threadpool(self._session.store.bundle, start, duration))

    async def submit(self, request: "HttpRequest") -> "Response":
        """Start a computation; return the result of a short one, else the state of the job."""
        job = self._session.submit(Request.from_json(await request.json()))
        await job.wait_until_final(DIRECT_RESULT_S)
        if job.state == "done" and isinstance(job.content, bytes):
            return self._binary(job.content)
        if await request.is_disconnected():
            await self._session.cancel(job)
        return _json(_job_state(job))

    async def job(self, request: "HttpRequest") -> "Response":
        """Return the state of a job, with ``after`` following a change; or cancel it (DELETE)."""
        job = self._session.jobs.get(request.path_params["id"])
        if job is None:
            return _json({"error": "This computation does not exist, or not any more."}, 404)
        if request.method == "DELETE":
            await self._session.cancel(job)
        elif (version := request.query_params.get("after")) is not None:
            await job.wait_for_change(parse_whole_number(version, "after"), POLL_S)
        return _json(_job_state(job))

    async def file(self, request: "HttpRequest") -> "Response":
        """Return the file that a job has written."""
        from starlette.responses import FileResponse

        job = self._session.jobs.get(request.path_params["id"])
        if job is None or job.state != "done" or not isinstance(job.content, str):
            return _json({"error": "There is no file."}, 404)
        return FileResponse(job.content, filename=Path(job.content).name)

    async def result(self, request: "HttpRequest") -> "Response":
        """Return the result of a job."""
        job = self._session.jobs.get(request.path_params["id"])
        if job is None or job.state not in FINAL_STATES:
            return _json({"error": "There is no result yet."}, 404)
        if job.state != "done":
            return _json({"error": job.error or "The computation was cancelled."}, 409)
        if not isinstance(job.content, bytes):
            return _json({"error": "The result is a file."}, 409)
        return self._binary(job.content)
