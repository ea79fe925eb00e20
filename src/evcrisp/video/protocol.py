"""Protocol of video formats."""

from pathlib import Path
from typing import ClassVar, Protocol

from evcrisp.core.types import Bytes


class VideoSink(Protocol):
    """An open video file."""

    def write(self, picture: Bytes) -> None:
        """Append a frame of palette indices, shape (height, width); the caller reuses the array."""
        ...

    def close(self) -> None:
        """Complete the video."""
        ...

    def abort(self) -> None:
        """Release all resources after a failure; the file is incomplete."""
        ...


class VideoFormat(Protocol):
    """A video file format."""

    name: ClassVar[str]
    title: ClassVar[str]

    def open(self, path: Path, size: tuple[int, int], fps: float, table: Bytes) -> VideoSink:
        """Open a video for writing.

        ``size`` is (width, height), px, both even. ``table``, shape (256, 3), has red, green and
        blue of every palette index.
        """
        ...
