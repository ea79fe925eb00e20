"""Show live events in the browser while they come."""

from evcrisp.viewer.live.board import LiveBoard
from evcrisp.viewer.live.server import serve_live

__all__ = ["LiveBoard", "serve_live"]
