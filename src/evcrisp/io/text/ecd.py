"""ECD: the text of the Event Camera Dataset, ``t[s] x y p`` per line; a file, folder or archive.

Time is parsed as decimal digits, without floats, and rounded to microseconds.
"""

import logging
import zipfile
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import chain
from pathlib import Path

import numpy as np

from evcrisp.core.calibration.calibration_file import parse_calibration
from evcrisp.core.camera import Camera
from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Imu
from evcrisp.io import byte_blocks
from evcrisp.io.protocol import Packet, Reader, Source, Writer, keeping
from evcrisp.io.text import event_text

logger = logging.getLogger(__name__)

Blocks = Callable[[], Generator[bytes, None, None]]

_ECD_SIZE = (240, 180)
_SIZES = (_ECD_SIZE, (346, 260), (640, 480), (1280, 720))
_EVENT_NAMES = ("events.txt", "events.txt.gz")
_IMU_NAMES = ("imu.txt", "imu.txt.gz")
_MAX_LINE_BYTES = 4096
_EXACT = Context(prec=2 * _MAX_LINE_BYTES)


@dataclass(slots=True, kw_only=True)
class _EcdSource(Source):
    blocks: Blocks
    layout: event_text.Layout
    imu_blocks: Blocks | None = None
    calib: str = ""  # content of calib.txt

    def camera(self) -> Camera | None:
        if not self.calib.strip():
            return None
        return Camera.from_intrinsics(parse_calibration(self.calib))

    def packets(self) -> Iterator[Packet]:
        return event_text.text_packets(self.blocks(), self.layout)

    def imu(self) -> Imu | None:
        return None if self.imu_blocks is None else read_imu(self.imu_blocks())


class EcdReader(Reader):
    """Read event text, plain or gzip, and folders with ``events.txt``."""

    name = "ecd"
    title = "ECD text (t x y p)"
    suffixes = (".txt", ".txt.gz")
    standard_sizes = _SIZES

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for lines of four numbers with time in seconds first."""
        if path.is_dir():
            return _file_in(path, _EVENT_NAMES) is not None
        return looks_like_ecd(byte_blocks.uncompressed(head))

    def open(self, path: Path) -> _EcdSource:
        """Open a text or a folder of texts."""
        events, imu, calib = path, None, b""
        if path.is_dir():
            found = _file_in(path, _EVENT_NAMES)
            if found is None:
                raise FormatError(f"the folder has no {' or '.join(_EVENT_NAMES)}")
            events, imu = found, _file_in(path, _IMU_NAMES)
        beside = events.with_name("calib.txt")
        if events.name in _EVENT_NAMES and beside.is_file():
            calib = byte_blocks.first_bytes(byte_blocks.file_blocks(beside), 4096)
        return _source(
            lambda: byte_blocks.file_blocks(events),
            None if imu is None else lambda: byte_blocks.file_blocks(imu),
            calib,
        )


class EcdZipReader(Reader):
    """Read ECD archives as they are distributed: a zip with ``events.txt``, ``imu.txt``, ..."""

    name = "ecd-zip"
    title = "ECD archive (zip)"
    suffixes = (".zip",)
    standard_sizes = _SIZES
    foreign_errors = byte_blocks.ZIP_ERRORS

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for a zip archive with a member ``events.txt``."""
        return byte_blocks.has_member(head, path, "/events.txt", 128)

    def open(self, path: Path) -> _EcdSource:
        """Find the texts of an archive; every pass over one of them opens the archive again."""
        with byte_blocks.open_archive(path) as archive:
            members = set(archive.namelist())
            comment = event_text.Line(0, 0, 0, b"#" + archive.comment[:200])
        found = [name for name in members if name.rpartition("/")[2] == "events.txt"]
        if not found:
            raise FormatError("the archive has no member events.txt")
        events = min(found, key=lambda name: (name.count("/"), name))  # the least deep one
        folder = events.removesuffix("events.txt")
        imu, calib = f"{folder}imu.txt", f"{folder}calib.txt"
        calib_blocks = byte_blocks.member_blocks(path, calib) if calib in members else iter(())
        source = _source(
            lambda: byte_blocks.member_blocks(path, events),
            (lambda: byte_blocks.member_blocks(path, imu)) if imu in members else None,
            byte_blocks.first_bytes(calib_blocks, 4096),
        )
        source.resolution = source.resolution or event_text.stated_size([comment])
        if comment.content.startswith(b"#evcrisp "):
            source.metadata = {**source.metadata, "written_by": "evcrisp"}
        return source


def _file_in(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _source(blocks: Blocks, imu_blocks: Blocks | None, calib: bytes) -> _EcdSource:
    """Find the layout of event text and return its source."""
    lines = event_text.head_lines(byte_blocks.first_bytes(blocks(), event_text.HEAD_BYTES))
    data = [line for line in lines if not line.is_comment]
    size = event_text.stated_size(lines)
    layout = event_text.Layout(("t", "x", "y", "p"), start=lines[0].offset)
    if data and _is_size_line(data[0]):
        first = data.pop(0)
        width, height = first.content.split()
        size = (int(width), int(height))
        layout = event_text.Layout(layout.columns, start=first.end, line=first.number)
    times = [line.content.split(maxsplit=1)[0] for line in data]
    if times and all(event_text.is_whole(time) for time in times):
        raise FormatError(
            "time must be in seconds; it has no decimal point in the first "
            f"{counted(len(times), 'line')}. For microseconds, read the file as format 'csv'",
            offset=data[0].offset,
        )
    metadata = {"calib": numbers} if (numbers := _numbers(calib)) else {}
    text = calib.decode("utf-8", "replace")
    return _EcdSource(
        size, metadata, blocks=blocks, layout=layout, imu_blocks=imu_blocks, calib=text
    )


def looks_like_ecd(head: bytes) -> bool:
    """Return whether a text starts with lines ``t x y p``, time in seconds."""
    rows = [line for line in event_text.head_lines(head) if not line.is_comment]
    if rows and _is_size_line(rows[0]):
        rows.pop(0)
    fields = [row.content.split() for row in rows]
    if not all(len(row) == 4 and all(map(event_text.is_number, row)) for row in fields):
        return False
    if not fields:
        return b"# no events\n" in head
    return any(not event_text.is_whole(row[0]) for row in fields)


def _is_size_line(line: event_text.Line) -> bool:
    """Recognize the first line ``width height`` of some data sets."""
    fields = line.content.split()
    return len(fields) == 2 and all(item.isdigit() and len(item) <= 5 for item in fields)


def _numbers(text: bytes) -> list[float]:
    """Return the numbers of ``calib.txt``: fx fy cx cy k1 k2 p1 p2 k3."""
    fields = text.split()
    return list(map(float, fields)) if all(map(event_text.is_number, fields)) else []


def microseconds(text: str) -> int:
    """Convert decimal seconds to microseconds, rounded half away from zero.

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
        t = np.array(times, np.int64)
        return Imu(t=t, accel_m_s2=columns[:, :3], gyro_rad_s=columns[:, 3:])

    rest, number = b"", 0
    with keeping(samples):
        for block in chain(blocks, (b"\n",)):
            *lines, rest = (rest + block).split(b"\n")
            if len(rest) > _MAX_LINE_BYTES:
                raise FormatError(f"imu.txt has a line of more than {_MAX_LINE_BYTES} bytes")
            for line in lines:
                number += 1
                if not line.strip() or line.lstrip()[:1] in b"#%":
                    continue
                time, sample = _imu_sample(line, number)
                times.append(time)
                values.append(sample)
    return samples()


def _imu_sample(line: bytes, number: int) -> tuple[int, list[float]]:
    fields = line.split()
    if len(fields) != 7 or not all(map(event_text.is_number, fields)):
        shown = ascii(line[:60].decode("latin-1"))
        raise FormatError(f"imu.txt line {number} must be `t ax ay az gx gy gz`; got {shown}")
    time = microseconds(fields[0].decode())
    if abs(time) >= 2**63:
        raise FormatError(f"imu.txt line {number} has a time that does not fit into 64 bits")
    return time, [float(item) for item in fields[1:]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EcdWriter(Writer):
    """Write event text; gzip if the name ends in ``.gz``.

    ``size_line`` writes a first line ``width height``; some readers need it, others fail on it.
    """

    name = "ecd"
    title = "ECD text (t x y p)"
    suffixes = (".txt", ".txt.gz")

    size_line: bool = False

    def open(self, path: Path, resolution: tuple[int, int]) -> event_text.TextSink:
        """Start a text."""
        if resolution != _ECD_SIZE and not self.size_line:
            logger.warning(
                "ECD text does not keep the sensor size of %dx%d px; readers take %dx%d or "
                "guess. `evcrisp convert` with --set size_line=true writes it as the first line.",
                *(*resolution, *_ECD_SIZE),
            )
        file, below = event_text.create_text(path)
        first = b"%d %d\n" % resolution if self.size_line else b""
        return event_text.TextSink(file, " ", True, lambda labeled: first, below=below)


@dataclass(slots=True)
class _EcdZipSink:
    """An archive with a growing member ``events.txt``; ``imu.txt`` follows it."""

    archive: zipfile.ZipFile
    text: event_text.TextSink
    imus: list[Imu] = field(default_factory=list)

    def write(self, events: Events) -> None:
        self.text.write(events)

    def write_imu(self, imu: Imu) -> None:
        self.imus.append(imu)

    def finish(self) -> None:
        self.text.finish()
        if self.imus:
            with byte_blocks.create_member(self.archive, "imu.txt") as file:
                for imu in self.imus:
                    file.writelines(_imu_lines(imu))
        self.archive.close()

    def abort(self) -> None:
        self.text.abort()
        self.archive.close()


def _imu_lines(imu: Imu) -> Iterator[bytes]:
    columns = (imu.t.tolist(), imu.accel_m_s2.tolist(), imu.gyro_rad_s.tolist())
    for t, accel, gyro in zip(*columns, strict=True):
        sign, (seconds, rest) = "-" if t < 0 else "", divmod(abs(t), 1_000_000)
        values = " ".join(map(repr, (*accel, *gyro)))
        yield f"{sign}{seconds}.{rest:06d} {values}\n".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class EcdZipWriter(Writer):
    """Write ECD archives; the comment of the zip file keeps the sensor size."""

    name = "ecd-zip"
    title = "ECD archive (zip)"
    suffixes = (".zip",)
    keeps = ("imu",)

    compressed: bool = True

    def open(self, path: Path, resolution: tuple[int, int]) -> _EcdZipSink:
        """Start an archive."""
        compression = zipfile.ZIP_DEFLATED if self.compressed else zipfile.ZIP_STORED
        archive = zipfile.ZipFile(path, "w", compression, compresslevel=1)
        archive.comment = b"evcrisp width=%d height=%d" % resolution
        file = byte_blocks.create_member(archive, "events.txt")
        return _EcdZipSink(archive, event_text.TextSink(file, " ", True, lambda labeled: b""))
