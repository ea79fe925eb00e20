"""Write animated GIF and lossless animated WebP, frame by frame with Pillow."""

import io
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from evcrisp.core.errors import ConfigError, OutputError
from evcrisp.core.registry import require
from evcrisp.core.types import Bytes
from evcrisp.video.protocol import VideoSink


class Durations:
    """Durations of consecutive frames.

    Examples
    --------
    At 30 frames per second a frame lasts 3.33 hundredths of a second.

    >>> durations = Durations(30.0, units_per_s=100, shortest=2)
    >>> [durations.next() for _ in range(6)]
    [3, 4, 3, 3, 4, 3]
    """

    def __init__(self, fps: float, *, units_per_s: int, shortest: int) -> None:
        self._units = units_per_s / fps
        self._shortest = shortest
        self._n_frames = 0
        self._end = 0

    def next(self) -> int:
        """Return the duration of the next frame."""
        self._n_frames += 1
        duration = max(round(self._n_frames * self._units) - self._end, self._shortest)
        self._end += duration
        return duration


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


_ANIMATED = 0x02
_DO_NOT_BLEND = 0x02
_MAX_BYTES = 2**32 - 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Webp:
    """Endless lossless WebP; durations have steps of 1 ms."""

    name: ClassVar[str] = "webp"
    title: ClassVar[str] = "animated WebP"

    def open(self, path: Path, size: tuple[int, int], fps: float, table: Bytes) -> VideoSink:
        """Write the header."""
        require("PIL", extra="video", purpose="WebP files")
        return _WebpSink(path, size, fps, table)


class _WebpSink:
    def __init__(self, path: Path, size: tuple[int, int], fps: float, table: Bytes) -> None:
        self._durations = Durations(fps, units_per_s=1000, shortest=1)
        self._size = _three_bytes(size[0] - 1) + _three_bytes(size[1] - 1)
        self._palette = table.tobytes()
        self._file = path.open("wb")
        self._file.write(b"RIFF\0\0\0\0WEBP")  # `close` writes the length
        self._file.write(_chunk(b"VP8X", bytes((_ANIMATED, 0, 0, 0)) + self._size))
        self._file.write(_chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0)))

    def write(self, picture: Bytes) -> None:
        from PIL import Image

        image = Image.fromarray(picture)
        image.putpalette(self._palette)
        packed = io.BytesIO()
        image.convert("RGB").save(packed, "WEBP", lossless=True, quality=20, method=0)
        duration = _three_bytes(self._durations.next())
        head = bytes(6) + self._size + duration + bytes((_DO_NOT_BLEND,))
        # A file of one frame is a header of 12 bytes and the chunk of the frame.
        self._file.write(_chunk(b"ANMF", head + packed.getvalue()[12:]))

    def close(self) -> None:
        n_bytes = self._file.tell()
        if n_bytes > _MAX_BYTES:
            raise OutputError("A WebP file must have at most 4 GiB. Write .mp4, or a shorter part.")
        self._file.seek(4)
        self._file.write(struct.pack("<I", n_bytes - 8))
        self._file.close()

    def abort(self) -> None:
        self._file.close()


def _three_bytes(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


def _chunk(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)
