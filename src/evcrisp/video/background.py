"""Draws and packs frames in a thread, while the next ones are computed."""

import threading
from queue import SimpleQueue

from evcrisp.video.panes import Shown
from evcrisp.video.protocol import VideoSink
from evcrisp.video.rasterize import Painter

#: Frames that may wait; more would only cost memory.
MAX_WAITING = 4


class BackgroundSink:
    """Draws what it is given, in order, into a sink; what fails there is raised here.

    Places in the queue go around as tokens. These queues hold no lock while Python code runs, so
    that a signal whose handler raises cannot leave one locked, as it can with ``queue.Queue``.
    """

    def __init__(self, painter: Painter, sink: VideoSink) -> None:
        self._painter = painter
        self._sink = sink
        self._places: SimpleQueue[None] = SimpleQueue()
        self._waiting: SimpleQueue[Shown | None] = SimpleQueue()
        for _ in range(MAX_WAITING):
            self._places.put(None)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="evcrisp-video", daemon=True)
        self._thread.start()

    def write(self, shown: Shown) -> None:
        """Take a frame; wait if too many are waiting."""
        self._places.get()
        self._raise()
        self._waiting.put(shown)

    def close(self) -> None:
        """Wait for the last frame, and end the video."""
        self._waiting.put(None)
        self._thread.join()
        self._raise()
        self._sink.close()

    def abort(self) -> None:
        """Give up."""
        self._error = self._error or RuntimeError("the video was given up")
        self._sink.abort()
        self._waiting.put(None)
        self._thread.join()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while (shown := self._waiting.get()) is not None:
            if self._error is None:
                try:
                    self._sink.write(self._painter.paint(shown))
                except BaseException as error:
                    self._error = error
            self._places.put(None)
