"""Access control: refuse requests from other pages, without the token, or of excessive size.

Any web page can send requests to 127.0.0.1, and can point its own host name at that address. The
token in the path, the header Host (against such names) and the header Origin (against other pages)
protect the server.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Limits of one request, and of requests at the same time; far above those of the page.
MAX_BODY_BYTES = 16_384
MAX_URL_BYTES = 4_096
MAX_REQUESTS = 32

#: Time in which the body of a request must arrive, s; the page sends less than a packet.
BODY_S = 10.0

_SAFE_METHODS = ("GET", "HEAD")

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class AccessControl:
    """Middleware that refuses forbidden requests and removes the token from the path."""

    def __init__(self, app: App, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._n_running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal, body = self._refusal(scope), b""
        if refusal is None:
            # A body that comes slowly must not count among the running requests.
            body = await _body_within(receive, BODY_S)
            refusal = (408, "The request came too slowly.") if body is None else None
        if refusal is None and self._n_running >= MAX_REQUESTS:
            refusal = 503, "Too many requests at once."
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        path = scope["path"].removeprefix(f"/{self._token}")
        self._n_running += 1
        try:
            scope = {**scope, "path": path, "raw_path": path.encode()}
            await self._app(scope, _received(body or b"", receive), _with_headers(send))
        finally:
            self._n_running -= 1

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if len(scope["path"]) + len(scope.get("query_string", b"")) > MAX_URL_BYTES:
            return 414, "The address is too long."
        if len(hosts := headers.get("host", [])) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This server answers only to 127.0.0.1 and localhost."
        origins = headers.get("origin", [])
        if any(origin not in self._origins for origin in origins):
            return 403, "Other pages must not use this server."
        if scope["method"] not in _SAFE_METHODS and not origins:
            return 403, "A request that changes something needs the header Origin."
        token = f"{scope['path']}/".split("/")[1]  # "*" has no slash
        if not secrets.compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
            return 404, "Not found. Use the address that the program printed."
        return _body_refusal(headers)


def _body_refusal(headers: dict[str, list[str]]) -> tuple[int, str] | None:
    if "transfer-encoding" in headers:
        return 411, "The request needs the header Content-Length."
    length = headers.get("content-length", ["0"])[0]
    digits = length.lstrip("0") or "0"
    is_number = length.isascii() and length.isdecimal()
    if not is_number or len(digits) > 12 or int(digits) > MAX_BODY_BYTES:
        return 413, f"Requests must have at most {MAX_BODY_BYTES} bytes."
    return None


async def _body_within(receive: Receive, seconds: float) -> bytes | None:
    """Return the body of a request; None if it ends early or does not arrive in time."""
    parts: list[bytes] = []
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        return None


def _received(body: bytes, receive: Receive) -> Receive:
    """Return a function that delivers a body that has arrived, then what comes after it."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> MutableMapping[str, Any]:
        return messages.pop() if messages else await receive()

    return next_message


async def _refuse(send: Send, status: int, text: str) -> None:
    body = json.dumps({"error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    """Add the security headers to every response."""
    extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def send_response(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return send_response
