"""ECD: the text of the Event Camera Dataset, ``t[s] x y p`` per line; a file or a folder.

Time is read as decimal digits and rounded at the seventh decimal, so that no float comes between.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Imu
from evcrisp.io.byte_blocks import file_blocks, first_bytes, uncompressed
from evcrisp.io.protocol import Packet, Source
from evcrisp.io.text.event_text import (
    HEAD_BYTES,
    Layout,
    Line,
    TextSink,
    create_text,
    head_lines,
    is_number,
    is_whole,
    stated_size,
    text_packets,
)

logger = logging.getLogger(__name__)

_ECD_SIZE = (240, 180)
ECD_SIZES = (_ECD_SIZE, (346, 260), (640, 480), (1280, 720))
_EVENT_NAMES = ("events.txt", "events.txt.gz")
_IMU_NAMES = ("imu.txt", "imu.txt.gz")
_MAX_LINE_BYTES = 4096
_EXACT = Context(prec=2 * _MAX_LINE_BYTES)


@dataclass(slots=True)
class EcdSource(Source):
    """Event text, and the text of IMU samples beside it."""

    blocks: Callable[[], Iterator[bytes]] = field(kw_only=True)
    layout: Layout = field(kw_only=True)
    imu_blocks: Callable[[], Iterator[bytes]] | None = field(default=None, kw_only=True)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        return text_packets(self.blocks(), self.layout)

    def imu(self) -> Imu | None:
        """Return the samples of ``imu.txt``."""
        return None if self.imu_blocks is None else read_imu(self.imu_blocks())


@dataclass(frozen=True, slots=True)
class EcdReader:
    """Read event text, plain or gzip, and folders that hold ``events.txt``."""

    name: ClassVar[str] = "ecd"
    title: ClassVar[str] = "ECD text (t x y p)"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".txt.gz")
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ECD_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for lines of four numbers of which the first is in seconds."""
        if path.is_dir():
            return _beside(path, _EVENT_NAMES) is not None
        return looks_like_ecd(uncompressed(head))

    def open(self, path: Path) -> EcdSource:
        """Open a text or a folder of texts."""
        events, imu, calib = path, None, b""
        if path.is_dir():
            found = _beside(path, _EVENT_NAMES)
            if found is None:
                raise FormatError(f"the folder has no {' or '.join(_EVENT_NAMES)}")
            events, imu = found, _beside(path, _IMU_NAMES)
            if (path / "calib.txt").is_file():
                calib = first_bytes(file_blocks(path / "calib.txt"), 4096)
        return ecd_source(
            lambda: file_blocks(events), None if imu is None else lambda: file_blocks(imu), calib
        )


def _beside(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def ecd_source(
    blocks: Callable[[], Iterator[bytes]],
    imu_blocks: Callable[[], Iterator[bytes]] | None,
    calib: bytes,
) -> EcdSource:
    """Find out the layout of event text and return it as a source."""
    lines = head_lines(first_bytes(blocks(), HEAD_BYTES))
    data = [line for line in lines if not line.is_comment]
    size = stated_size(lines)
    layout = Layout(("t", "x", "y", "p"), start=lines[0].offset)
    if data and _is_size_line(data[0]):
        first = data.pop(0)
        width, height = first.content.split()
        size = (int(width), int(height))
        layout = Layout(layout.columns, start=first.end, line=first.number)
    times = [line.content.split(maxsplit=1)[0] for line in data]
    if times and all(is_whole(time) for time in times):
        raise FormatError(
            f"time must be in seconds; the first {counted(len(times), 'line')} have no decimal point in it. "
            "If it is in microseconds, read the file as format 'csv'",
            offset=data[0].offset,
        )
    metadata = {"calib": numbers} if (numbers := _numbers(calib)) else {}
    return EcdSource(
        resolution=size, metadata=metadata, blocks=blocks, layout=layout, imu_blocks=imu_blocks
    )


def looks_like_ecd(head: bytes) -> bool:
    """Say whether a text begins with lines ``t x y p``, time in seconds."""
    rows = [line for line in head_lines(head) if not line.is_comment]
    if rows and _is_size_line(rows[0]):
        rows.pop(0)
    fields = [row.content.split() for row in rows]
    if not all(len(row) == 4 and all(is_number(item) for item in row) for row in fields):
        return False
    if not fields:
        return b"# no events\n" in head
    return any(not is_whole(row[0]) for row in fields)


def _is_size_line(line: Line) -> bool:
    """Recognize the first line ``width height`` of some data sets."""
    fields = line.content.split()
    return len(fields) == 2 and all(item.isdigit() and len(item) <= 5 for item in fields)


def _numbers(text: bytes) -> list[float]:
    """Return the numbers of ``calib.txt``: fx fy cx cy k1 k2 p1 p2 k3."""
    fields = text.split()
    return [float(item) for item in fields] if all(is_number(item) for item in fields) else []


def microseconds(text: str) -> int:
    """Return seconds as whole microseconds, rounded half away from zero.

    Examples
    --------
    >>> microseconds("2.097134001"), microseconds("1.5e-05"), microseconds("-0.0000005")
    (2097134, 15, -1)
    """
    return int(_EXACT.multiply(Decimal(text), 1_000_000).to_integral_value(ROUND_HALF_UP))


def read_imu(blocks: Iterator[bytes]) -> Imu:
    """Parse lines ``t ax ay az gx gy gz`` (s, m/s2, rad/s)."""
    times: list[int] = []
    values: list[list[float]] = []

    def samples() -> Imu:
        columns = np.array(values, np.float64).reshape(-1, 6)
        return Imu(
            t=np.array(times, np.int64), accel_m_s2=columns[:, :3], gyro_rad_s=columns[:, 3:]
        )

    rest, number = b"", 0
    try:
        for block in _with_end(blocks):
            *lines, rest = (rest + block).split(b"\n")
            if len(rest) > _MAX_LINE_BYTES:
                raise FormatError(f"imu.txt has a line of more than {_MAX_LINE_BYTES} bytes")
            for line in lines:
                number += 1
                fields = line.split()
                if not fields or line.lstrip()[:1] in b"#%":
                    continue
                if len(fields) != 7 or not all(is_number(item) for item in fields):
                    shown = ascii(line[:60].decode("latin-1"))
                    raise FormatError(
                        f"imu.txt line {number} must be `t ax ay az gx gy gz`; got {shown}"
                    )
                times.append(_bounded(microseconds(fields[0].decode()), number))
                values.append([float(item) for item in fields[1:]])
    except FormatError as error:
        error.partial = samples()
        raise
    return samples()


def _bounded(time: int, number: int) -> int:
    if abs(time) >= 2**63:
        raise FormatError(f"imu.txt line {number} has a time that does not fit into 64 bits")
    return time


def _with_end(blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield from blocks
    yield b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class EcdWriter:
    """Write event text; gzip if the name ends in ``.gz``.

    ``size_line`` puts ``width height`` first, which some readers of this text want and others do
    not understand.
    """

    name: ClassVar[str] = "ecd"
    title: ClassVar[str] = "ECD text (t x y p)"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".txt.gz")
    keeps_signal: ClassVar[bool] = False
    keeps_extras: ClassVar[bool] = False

    size_line: bool = False

    def open(self, path: Path, resolution: tuple[int, int]) -> TextSink:
        """Start a text."""
        if resolution != _ECD_SIZE and not self.size_line:
            logger.warning(
                "ECD text does not keep the sensor size of %dx%d px, and readers take %dx%d or "
                "guess. `evcrisp convert` with --set size_line=true writes it as the first line.",
                *resolution,
                *_ECD_SIZE,
            )
        file, below = create_text(path)
        first = b"%d %d\n" % resolution if self.size_line else b""
        return TextSink(file, " ", True, lambda labeled: first, below=below)
