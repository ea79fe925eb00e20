"""Run the server on this machine and open the page."""

import contextlib
import secrets
import socket
import threading
from collections.abc import Callable, Generator
from typing import Any

from evcrisp.core.errors import OutputError
from evcrisp.core.registry import require
from evcrisp.viewer.app import make_app
from evcrisp.viewer.connections import yielding
from evcrisp.viewer.session import Session, ViewOptions


def _bound(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise OutputError(
            f"Port {port} of 127.0.0.1 cannot be used ({error.strerror}). Leave the port out, and a "
            "free one is taken."
        ) from error
    return listener


def _server(options: ViewOptions, port: int) -> tuple[Any, socket.socket, str]:
    purpose = "The viewer's pages"
    require("starlette", extra="viewer", purpose=purpose)
    uvicorn = require("uvicorn", extra="viewer", purpose=purpose)
    protocol = require("uvicorn.protocols.http.h11_impl", extra="viewer", purpose=purpose)
    listener = _bound(port)
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    config = uvicorn.Config(
        make_app(Session(options), token=token, port=port),
        log_level="warning",
        access_log=False,
        lifespan="on",
        server_header=False,
        http=yielding(protocol.H11Protocol),  # how many requests run at once is the guard's to say
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        ws="none",
    )
    return uvicorn.Server(config), listener, f"http://127.0.0.1:{port}/{token}/"


def view(
    options: ViewOptions, *, port: int = 0, on_ready: Callable[[str], None] = lambda url: None
) -> None:
    """Show a recording until the program is interrupted.

    Parameters
    ----------
    options : ViewOptions
        What is opened.
    port : int
        Port on 127.0.0.1; 0 for any that is free.
    on_ready : callable
        Called with the address once, before the server takes requests; they wait until it does.
    """
    server, listener, url = _server(options, port)
    with listener:
        listener.listen(64)
        on_ready(url)
        # The server ends in order at Ctrl+C, then passes it on.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


@contextlib.contextmanager
def serving(options: ViewOptions) -> Generator[str, None, None]:
    """Serve a recording in another thread, and yield the address.

    Examples
    --------
    ::

        with serving(ViewOptions(path=Path("scene.aedat4"))) as url:
            webbrowser.open(url)
            input("Enter ends. ")
    """
    server, listener, url = _server(options, 0)
    listener.listen(64)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield url
    finally:
        server.should_exit = True
        thread.join(10.0)
        listener.close()
