"""What a video format must offer."""

from pathlib import Path
from typing import ClassVar, Protocol

from evcrisp.core.types import Bytes


class VideoSink(Protocol):
    """A video that is being written."""

    def write(self, picture: Bytes) -> None:
        """Append a frame of palette indices, shape (height, width); it may be overwritten later."""
        ...

    def close(self) -> None:
        """End the video; it is complete when this returns."""
        ...

    def abort(self) -> None:
        """Let go of everything after a failure; what was written is of no use."""
        ...


class VideoFormat(Protocol):
    """One kind of file."""

    name: ClassVar[str]
    title: ClassVar[str]

    def open(self, path: Path, size: tuple[int, int], fps: float, table: Bytes) -> VideoSink:
        """Begin a video.

        Parameters
        ----------
        path : Path
            Where to write.
        size : (int, int), px
            ``(width, height)``, both even.
        fps : float, Hz
            Frames per second.
        table : ndarray of uint8, shape (256, 3)
            Red, green and blue of every palette index.
        """
        ...
