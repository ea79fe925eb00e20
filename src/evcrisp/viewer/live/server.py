"""Serve the live page from a thread, while a session runs."""

import contextlib
import threading
from collections.abc import Generator

from evcrisp.viewer.live.app import make_live_app
from evcrisp.viewer.live.board import LiveBoard
from evcrisp.viewer.server import make_server


@contextlib.contextmanager
def serve_live(board: LiveBoard, title: str, *, port: int = 0) -> Generator[str, None, None]:
    """Serve what a board holds on 127.0.0.1, and yield the address; port 0 is a free one."""
    server, listener, url = make_server(
        lambda token, port: make_live_app(board, title, token=token, port=port), port
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield url
    finally:
        server.should_exit = True
        thread.join(10.0)
        listener.close()
