"""Serve the viewer on this machine."""

import contextlib
import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from evcrisp.core.errors import ConfigError, OutputError
from evcrisp.core.registry import require
from evcrisp.io.reading import open_recording
from evcrisp.viewer.app import make_app
from evcrisp.viewer.session import Session, ViewOptions

#: Open connections; a browser uses about six.
MAX_CONNECTIONS = 128


def make_server(make: Callable[[str, int], Any], port: int) -> tuple[Any, socket.socket, str]:
    """Return a server on 127.0.0.1, its socket and its address.

    ``make`` returns the application for a token and a port.
    """
    purpose = "The viewer's pages"
    require("starlette", extra="viewer", purpose=purpose)
    uvicorn = require("uvicorn", extra="viewer", purpose=purpose)
    protocol = require("uvicorn.protocols.http.h11_impl", extra="viewer", purpose=purpose)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise OutputError(
            f"Port {port} of 127.0.0.1 is not available ({error.strerror}). Leave the port out to "
            "use a free one."
        ) from error
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    config = uvicorn.Config(
        make(token, port),
        log_level="warning",
        access_log=False,
        lifespan="on",
        server_header=False,
        # Access control limits the number of requests, uvicorn does not.
        http=_limited(protocol.H11Protocol),
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        ws="none",
    )
    listener.listen(64)
    return uvicorn.Server(config), listener, f"http://127.0.0.1:{port}/{token}/"


def _make_viewer(options: ViewOptions, port: int) -> tuple[Any, socket.socket, str]:
    return make_server(lambda token, port: make_app(Session(options), token=token, port=port), port)


def _view_options(
    recording: str | os.PathLike[str] | ViewOptions, options: dict[str, Any]
) -> ViewOptions:
    """Return the options; raise if a recording given by its path is not readable."""
    if isinstance(recording, ViewOptions):
        return replace(recording, **options)
    if not isinstance(recording, (str, os.PathLike)):
        raise ConfigError(
            f"must be the path of a recording; got {type(recording).__name__}",
            parameter="recording",
            remedy="Write events to a file first (`evcrisp.write`), or use `export_html`.",
        )
    made = ViewOptions(path=Path(recording), **options)
    open_recording(made.path, **made.opening).close()
    return made


def open_page(url: str) -> None:
    """Print the address of the viewer, and open it in the browser."""
    print(f"The viewer is at {url}\nCtrl+C ends it.")  # noqa: T201 - the address has a secret part
    webbrowser.open(url)


def view(
    recording: str | os.PathLike[str] | ViewOptions,
    *,
    port: int = 0,
    on_ready: Callable[[str], None] = open_page,
    **options: Any,
) -> None:
    """Show a recording in the browser until the program is interrupted (Ctrl+C).

    Parameters
    ----------
    recording : path or ViewOptions
        The recording.
    port : int
        Port on 127.0.0.1; 0 for a free one.
    on_ready : callable
        Called once with the address. Default: print it, and open it in the browser.
    **options
        Fields of :class:`ViewOptions`, such as ``window_us=20_000`` or ``method="exact"``.
    """
    server, listener, url = _make_viewer(_view_options(recording, options), port)
    with listener:
        on_ready(url)  # requests wait until the server runs
        # The server shuts down at Ctrl+C, then raises it again.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


@contextlib.contextmanager
def serve(
    recording: str | os.PathLike[str] | ViewOptions, **options: Any
) -> Generator[str, None, None]:
    """Serve a recording in another thread, and yield the address; parameters as for `view`.

    Examples
    --------
    ::

        with serve("scene.aedat4", window_us=20_000) as url:
            webbrowser.open(url)
            input("Press Enter to end. ")
    """
    server, listener, url = _make_viewer(_view_options(recording, options), 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield url
    finally:
        server.should_exit = True
        thread.join(10.0)
        listener.close()


def _limited(base: Any, limit: int = MAX_CONNECTIONS) -> Any:
    """Return a subclass of uvicorn's HTTP protocol that closes idle connections above a limit."""

    class LimitedProtocol(base):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.idle_since = self.loop.time()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
            _close_idle(self.connections, limit)

        def on_response_complete(self) -> None:
            self.idle_since = self.loop.time()
            super().on_response_complete()

    return LimitedProtocol


def _close_idle(connections: Iterable[Any], limit: int) -> None:
    is_open = [one for one in connections if not one.transport.is_closing()]
    # Idle: no complete request is being answered.
    idle = [one for one in is_open if one.cycle is None or one.cycle.response_complete]
    idle.sort(key=lambda one: one.idle_since)
    for one in idle[: max(len(is_open) - limit, 0)]:
        one.transport.close()
