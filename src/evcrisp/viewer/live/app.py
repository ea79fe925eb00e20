"""Routes of the live page, behind the same access control as the viewer."""

import secrets
from typing import TYPE_CHECKING, Any

from evcrisp.viewer.access import AccessControl, App
from evcrisp.viewer.live.board import LiveBoard
from evcrisp.viewer.page import MEDIA_TYPES, fill_live_page, live_policy, static_files
from evcrisp.viewer.requests import parse_whole_number

if TYPE_CHECKING:
    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response

#: Longest wait of a request for newer events, s: curves move on without them.
_WAIT_S = 0.02


def make_live_app(board: LiveBoard, title: str, *, token: str, port: int) -> App:
    """Return the application; the path of every address starts with the token."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    handlers = _Handlers(board, title)
    app = Starlette(
        routes=[
            Route("/", handlers.page),
            Route("/static/{name:path}", handlers.static),
            Route("/api/frame", handlers.frame),
        ],
        exception_handlers={ValueError: _answer_error},
    )
    return AccessControl(app, token=token, port=port)


async def _answer_error(request: "HttpRequest", error: Exception) -> "Response":
    from starlette.responses import JSONResponse

    return JSONResponse({"error": str(error)}, 400)


class _Handlers:
    def __init__(self, board: LiveBoard, title: str) -> None:
        self._board, self._title = board, title

    async def page(self, request: "HttpRequest") -> "Response":
        from starlette.responses import HTMLResponse

        nonce = secrets.token_urlsafe(16)
        headers = {"Content-Security-Policy": live_policy(nonce)}
        return HTMLResponse(fill_live_page(self._title, nonce), headers=headers)

    async def static(self, request: "HttpRequest") -> "Response":
        from starlette.responses import PlainTextResponse, Response

        name = request.path_params["name"]
        data, kind = static_files().get(name), MEDIA_TYPES.get(name[name.rfind(".") :])
        if data is None or kind is None:
            return PlainTextResponse("Not found.", 404)
        return Response(data, media_type=kind)

    async def frame(self, request: "HttpRequest") -> "Response":
        """Return pictures and numbers; with ``after``, wait for newer ones."""
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response

        after = parse_whole_number(request.query_params.get("after", "0"), "after")
        data = await run_in_threadpool(_next_frame, self._board, after)
        return Response(data, media_type="application/octet-stream")


def _next_frame(board: LiveBoard, after: int) -> Any:
    board.wait(after, _WAIT_S)
    return board.frame()
