"""Video formats: MP4 (H.264) with the program ffmpeg, animated GIF and WebP with Pillow."""

import contextlib
import io
import signal
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO, ClassVar, Protocol, cast

import numpy as np

from evcrisp.core.errors import ConfigError, OutputError
from evcrisp.core.registry import require
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


#: Matrix from red, green, blue to y, u, v in the narrow range of BT.601, the default of players.
_TO_YUV = np.array(
    [[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]]
)
_OFFSETS = (16.0, 128.0, 128.0)


#: Threads of the encoder; the bytes depend on their number.
_THREADS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Mp4:
    """H.264 with color at half the resolution, which every player supports.

    Parameters
    ----------
    crf : int
        Constant rate factor of x264, 0 (lossless) to 51; smaller means better and larger files.
    preset : str
        Effort of x264, from "ultrafast" to "veryslow". The next slower preset takes 2.4 times as
        long for files that are a fifth smaller.
    """

    name: ClassVar[str] = "mp4"
    title: ClassVar[str] = "MP4 (H.264)"

    crf: int = 18
    preset: str = "ultrafast"

    def open(self, path: Path, size: tuple[int, int], fps: float, table: Bytes) -> VideoSink:
        """Start ffmpeg."""
        package = require("imageio_ffmpeg", extra="video", purpose="MP4 files")
        try:
            program = package.get_ffmpeg_exe()
        except RuntimeError as error:
            raise OutputError(
                "The program ffmpeg was not found. Install it, or write .gif or .webp."
            ) from error
        rate = Fraction(fps).limit_denominator(100_000)
        command = [
            *(program, "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p"),
            *("-s", f"{size[0]}x{size[1]}", "-r", str(rate), "-i", "-", "-an"),
            *("-c:v", "libx264", "-preset", self.preset, "-crf", str(self.crf)),
            *("-pix_fmt", "yuv420p", "-colorspace", "smpte170m", "-color_range", "tv"),
            # The same frames give the same bytes, also with another number of cores.
            *("-threads", str(_THREADS)),
            *("-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart"),
            *("-f", "mp4", str(path)),
        ]
        return _Mp4Sink(command, size, table)


class _Mp4Sink:
    def __init__(self, command: list[str], size: tuple[int, int], table: Bytes) -> None:
        width, height = size
        self._table = np.rint(table @ (_TO_YUV.T / 255.0) + _OFFSETS).astype(np.uint8)
        self._planes = np.empty(width * height * 3 // 2, np.uint8)
        n, shape = width * height, (height // 2, width // 2)
        self._luma = self._planes[:n].reshape(height, width)
        self._chroma = self._planes[n:].reshape(2, *shape)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the sink
        # A new session: Ctrl+C must not reach ffmpeg, which `abort` ends.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            start_new_session=True,
        )
        self._pipe = cast(IO[bytes], self._process.stdin)

    def write(self, picture: Bytes) -> None:
        from evcrisp.kernels.video.frames import fill_yuv

        fill_yuv(picture, self._table, self._luma, self._chroma[0], self._chroma[1])
        try:
            self._pipe.write(self._planes.data)
        except BrokenPipeError:
            self._process.wait()
            raise self._failure() from None

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._pipe.close()
        if self._process.wait() != 0:
            raise self._failure()
        self._errors.close()

    def abort(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _failure(self) -> OutputError:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return OutputError(
            f"The program ffmpeg failed: {lines[-1] if lines else _exit_reason(self._process.returncode)}"
        )


def _exit_reason(code: int) -> str:
    """Describe the end of a program that printed no error."""
    if code >= 0:
        return f"it ended with code {code}."
    return (
        f"it was stopped by signal {signal.Signals(-code).name}, perhaps for lack of memory. "
        "Write smaller frames or a shorter part."
    )


class Durations:
    """Durations of consecutive frames.

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
