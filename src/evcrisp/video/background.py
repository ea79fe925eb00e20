"""Draw and encode frames in a thread, while the next ones are computed."""

import threading
from queue import SimpleQueue

from evcrisp.video.panes import FrameContent
from evcrisp.video.protocol import VideoSink
from evcrisp.video.rasterize import Painter

#: Frames in the queue; more would cost memory and save no time.
MAX_WAITING = 4


class BackgroundSink:
    """Draws frames in order into a sink; errors of the thread are raised in the caller.

    Tokens for free places limit the queue. ``SimpleQueue`` holds no lock while Python code runs: a
    signal handler that raises would leave a ``queue.Queue`` locked.
    """

    def __init__(self, painter: Painter, sink: VideoSink) -> None:
        self._painter = painter
        self._sink = sink
        self._free: SimpleQueue[None] = SimpleQueue()
        self._waiting: SimpleQueue[FrameContent | None] = SimpleQueue()
        for _ in range(MAX_WAITING):
            self._free.put(None)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="evcrisp-video", daemon=True)
        self._thread.start()

    def write(self, shown: FrameContent) -> None:
        """Queue a frame; wait while the queue is full."""
        self._free.get()
        self._raise()
        self._waiting.put(shown)

    def close(self) -> None:
        """Wait for the last frame, and complete the video."""
        self._waiting.put(None)
        self._thread.join()
        self._raise()
        self._sink.close()

    def abort(self) -> None:
        """Stop, and discard the video."""
        self._error = self._error or RuntimeError("the video was aborted")
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
            self._free.put(None)
