"""Write animated GIF frame by frame: one color table, then frames encoded by Pillow."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import require
from evcrisp.core.types import Bytes
from evcrisp.video.protocol import VideoSink
from evcrisp.video.timing import Durations

#: Shortest duration of a frame, 1/100 s; browsers show shorter frames much longer.
_SHORTEST_CS = 2
MAX_FPS = 100 / _SHORTEST_CS


@dataclass(frozen=True, slots=True, kw_only=True)
class Gif:
    """Endless GIF; durations have steps of 10 ms, and frames last at least 20 ms."""

    name: ClassVar[str] = "gif"
    title: ClassVar[str] = "animated GIF"

    def open(self, path: Path, size: tuple[int, int], fps: float, table: Bytes) -> VideoSink:
        """Write the header and the colors."""
        if fps > MAX_FPS:
            raise ConfigError(
                f"must be at most {MAX_FPS:g}, because players slow down faster GIFs",
                parameter="fps",
                value=fps,
                remedy="Write .webp or .mp4 instead.",
            )
        require("PIL", extra="video", purpose="GIF files")
        return _GifSink(path, size, fps, table)


class _GifSink:
    def __init__(self, path: Path, size: tuple[int, int], fps: float, table: Bytes) -> None:
        self._durations = Durations(fps, units_per_s=100, shortest=_SHORTEST_CS)
        self._file = path.open("wb")
        self._file.write(b"GIF89a" + struct.pack("<HHBBB", *size, 0xF7, 0, 0) + table.tobytes())
        self._file.write(b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")

    def write(self, picture: Bytes) -> None:
        from PIL import GifImagePlugin, Image

        image = Image.fromarray(picture)
        for part in GifImagePlugin.getdata(image, duration=10 * self._durations.next()):
            self._file.write(part)

    def close(self) -> None:
        self._file.write(b";")
        self._file.close()

    def abort(self) -> None:
        self._file.close()
