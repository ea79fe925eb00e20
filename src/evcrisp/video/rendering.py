"""Render a recording as a video of panes side by side, in bounded memory."""

import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.io.atomic_output import replacing
from evcrisp.io.reading import open_recording
from evcrisp.io.recording import Recording
from evcrisp.motion import MotionModel
from evcrisp.pipeline.camera_motion.recorded_camera import camera_for
from evcrisp.pipeline.tracking import Tracker
from evcrisp.video.config import FrameContent, VideoConfig
from evcrisp.video.formats import Gif, Mp4, VideoFormat, VideoSink, Webp
from evcrisp.video.frames import frame_contents
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


#: Formats by suffix.
VIDEO_FORMATS: dict[str, type[VideoFormat]] = {f".{kind.name}": kind for kind in (Mp4, Gif, Webp)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Video:
    """Facts of a written video."""

    path: Path
    n_frames: int
    size: tuple[int, int]  # (width, height), px
    duration_s: float


def render(
    source: Recording | Events | str | PathLike[str],
    path: str | PathLike[str],
    *,
    method: str | Estimator = "auto",
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    config: VideoConfig | None = None,
    overwrite: bool = False,
    on_chunk: Callable[[Events], None] | None = None,
    **params: Any,
) -> Video:
    """Write a video of a recording: raw, aligned and denoised events side by side.

    Parameters
    ----------
    source : Recording, Events or path
        A recording is streamed.
    path : path
        Ends in ``.mp4``, ``.gif`` or ``.webp``. The file appears when it is complete.
    method, motion, camera, **params
        As for :func:`evcrisp.track`, with the same labels for the same windows. Not used when only
        the raw events are shown.
    config : VideoConfig, optional
        Appearance and time.
    overwrite : bool
        Replace an existing file.
    on_chunk : callable, optional
        Called with the events of each window, for progress.

    Raises
    ------
    MissingExtraError
        If the package that writes the format is not installed.
    EventDataError
        If there are no events.

    Examples
    --------
    >>> import evcrisp, tempfile
    >>> scene = evcrisp.simulate(duration_us=50_000, resolution=(64, 48), seed=1)
    >>> path = Path(tempfile.mkdtemp()) / "scene.gif"
    >>> render(scene.events, path, config=VideoConfig(panes=("raw",), fps=50, titles=False)).n_frames
    2
    """
    path = Path(path)
    config = VideoConfig() if config is None else config
    video_format = VIDEO_FORMATS.get(path.suffix.lower())
    if video_format is None:
        raise ConfigError(f"A video must end in {', '.join(VIDEO_FORMATS)}; got {path.name!r}.")
    estimator = build(ESTIMATORS, method, "method", **params)
    n_frames = 0
    with ExitStack() as stack:
        if isinstance(source, (str, PathLike)):
            source = stack.enter_context(open_recording(source))
        resolution = source.resolution
        painter = Painter(config, resolution)
        chunks: Iterable[Events] = (source,) if isinstance(source, Events) else source.chunks()
        lens = camera_for(source, motion, camera)
        tracker = Tracker(estimator, model_for(motion, resolution, lens, estimator), resolution)
        frames = frame_contents(chunks, config, tracker, on_chunk or (lambda chunk: None))
        temporary = stack.enter_context(replacing(path, overwrite=overwrite))
        opened = video_format().open(temporary, painter.size, config.fps, painter.table)
        sink = BackgroundSink(painter, opened)
        try:
            for shown in frames:
                sink.write(shown)
                n_frames += 1
            if n_frames == 0:
                raise EventDataError("There are no events, and so nothing to make a video of.")
            sink.close()
        except BaseException:
            sink.abort()
            raise
    return Video(path=path, n_frames=n_frames, size=painter.size, duration_s=n_frames / config.fps)
