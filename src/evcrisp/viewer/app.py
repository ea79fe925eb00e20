"""The addresses of the server."""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from evcrisp.core.errors import EvError
from evcrisp.viewer.access import App, Guard
from evcrisp.viewer.jobs import FINAL, Job
from evcrisp.viewer.page import MEDIA_TYPES, live_page, live_policy, static_files
from evcrisp.viewer.requests import Request, check_window, whole_number
from evcrisp.viewer.session import Session, choices
from evcrisp.viewer.worker_queue import BusyError

if TYPE_CHECKING:
    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response

#: How long an answer about progress may wait for news, s.
POLL_S = 10.0
#: Computations that take no longer are answered with their result, s.
AT_ONCE_S = 0.25

Handler = Callable[["HttpRequest"], Awaitable["Response"]]


def make_app(session: Session, *, token: str, port: int) -> App:
    """Return the server's application; every address begins with the token."""
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
            Route("/api/facts", _in_words(handlers.facts)),
            Route("/api/events", _in_words(handlers.events)),
            Route("/api/jobs", _in_words(handlers.submit), methods=["POST"]),
            Route("/api/jobs/{id}", _in_words(handlers.job), methods=["GET", "DELETE"]),
            Route("/api/jobs/{id}/result", _in_words(handlers.result)),
        ],
        lifespan=lifespan,
    )
    return Guard(app, token=token, port=port)


def _in_words(handler: Handler) -> Handler:
    """Turn our errors into answers that the page can show."""

    async def handle(request: "HttpRequest") -> "Response":
        try:
            return await handler(request)
        except BusyError as error:
            return _json({"error": str(error)}, 429)
        except (EvError, ValueError, RecursionError) as error:  # the last by nested JSON
            return _json({"error": str(error)}, 400)

    return handle


def _json(content: Any, status: int = 200) -> "Response":
    from starlette.responses import JSONResponse

    return JSONResponse(content, status)


def _binary(data: bytes) -> "Response":
    from starlette.responses import Response

    return Response(data, media_type="application/octet-stream")


class Handlers:
    """What is answered at each address."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def page(self, request: "HttpRequest") -> "Response":
        """Return the page."""
        from starlette.responses import HTMLResponse

        nonce = secrets.token_urlsafe(16)
        options = self._session.options
        settings = {
            "name": options.path.name,
            "choices": choices(),
            "start": {
                "window": options.window_us,
                "method": options.method,
                "motion": options.motion,
                "filter": options.filter,
            },
        }
        page = live_page(settings, nonce)
        return HTMLResponse(page, headers={"Content-Security-Policy": live_policy(nonce)})

    async def static(self, request: "HttpRequest") -> "Response":
        """Return a file of the page: looked up among those, never opened by name."""
        from starlette.responses import Response

        name = request.path_params["name"]
        data = static_files().get(name)
        kind = MEDIA_TYPES.get(name[name.rfind(".") :])
        if data is None or kind is None:
            return _json({"error": "Not found."}, 404)
        return Response(data, media_type=kind)

    async def facts(self, request: "HttpRequest") -> "Response":
        """Return what is known of the recording; after news if a version is given."""
        job = self._session.reading
        version = request.query_params.get("after")
        if version is not None and job is not None:
            await job.after(whole_number(version, "after"), POLL_S)
        return _json(self._session.facts())

    async def events(self, request: "HttpRequest") -> "Response":
        """Return the events of a window."""
        from starlette.concurrency import run_in_threadpool

        query = request.query_params
        start = whole_number(query.get("start"), "start")
        length = whole_number(query.get("length"), "length")
        check_window(start, length)
        return _binary(await run_in_threadpool(self._session.spool.packed_window, start, length))

    async def submit(self, request: "HttpRequest") -> "Response":
        """Begin a computation; return its result if that comes at once, else how to ask for it."""
        job = self._session.submit(Request.of(await request.json()))
        await job.finished(AT_ONCE_S)
        if job.state == "done":
            return _binary(job.content)
        if await request.is_disconnected():
            await self._session.cancel(job)
        return _json(_described(job))

    async def job(self, request: "HttpRequest") -> "Response":
        """Tell how a computation goes, after news if a version is given; or end it."""
        job = self._session.jobs.get(request.path_params["id"])
        if job is None:
            return _json({"error": "There is no such computation any more."}, 404)
        if request.method == "DELETE":
            await self._session.cancel(job)
        elif (version := request.query_params.get("after")) is not None:
            await job.after(whole_number(version, "after"), POLL_S)
        return _json(_described(job))

    async def result(self, request: "HttpRequest") -> "Response":
        """Return what a computation gave."""
        job = self._session.jobs.get(request.path_params["id"])
        if job is None or job.state not in FINAL:
            return _json({"error": "There is no result yet."}, 404)
        if job.state != "done":
            return _json({"error": job.error or "The computation was cancelled."}, 409)
        return _binary(job.content)


def _described(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "state": job.state,
        "share": job.share,
        "error": job.error,
        "version": job.version,
    }
