"""Write MP4 (H.264) with the program ffmpeg, through a pipe."""

import contextlib
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO, ClassVar, cast

import numpy as np

from evcrisp.core.errors import OutputError
from evcrisp.core.registry import require
from evcrisp.core.types import Bytes
from evcrisp.video.protocol import VideoSink

#: Matrix from red, green, blue to y, u, v in the narrow range of BT.601, the default of players.
_TO_YUV = np.array(
    [[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]]
)
_OFFSETS = (16.0, 128.0, 128.0)


def yuv_table(table: Bytes) -> Bytes:
    """Return y, u and v of all colors, shape (256, 3)."""
    return np.rint(table @ (_TO_YUV.T / 255.0) + _OFFSETS).astype(np.uint8)


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
            # The same frames give the same bytes.
            *("-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart"),
            *("-f", "mp4", str(path)),
        ]
        return _Mp4Sink(command, size, table)


class _Mp4Sink:
    def __init__(self, command: list[str], size: tuple[int, int], table: Bytes) -> None:
        width, height = size
        self._table = yuv_table(table)
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
