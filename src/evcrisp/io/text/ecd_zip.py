"""ECD archives: a zip with ``events.txt`` and, where known, ``imu.txt`` and ``calib.txt``."""

import logging
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.byte_blocks import first_bytes, member_blocks
from evcrisp.io.text.ecd import ECD_SIZES, EcdSource, ecd_source
from evcrisp.io.text.event_text import Line, TextSink, stated_size
from evcrisp.io.zip_members import ZIP_ERRORS, create_member, open_archive

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EcdZipReader:
    """Read ECD archives as they are distributed."""

    name: ClassVar[str] = "ecd-zip"
    title: ClassVar[str] = "ECD archive (zip)"
    suffixes: ClassVar[tuple[str, ...]] = (".zip",)
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ECD_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ZIP_ERRORS

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for a zip archive with a member ``events.txt``."""
        if not head.startswith(b"PK\x03\x04"):
            return False
        try:
            with zipfile.ZipFile(path) as archive:
                return _events_member(archive) is not None
        except ZIP_ERRORS:
            return b"events.txt" in head[:128]

    def open(self, path: Path) -> EcdSource:
        """Find the texts of an archive; every pass over one of them opens the archive anew."""
        with open_archive(path) as archive:
            events = _events_member(archive)
            if events is None:
                raise FormatError("the archive has no member events.txt")
            folder = events.removesuffix("events.txt")
            imu, calib = f"{folder}imu.txt", f"{folder}calib.txt"
            members = set(archive.namelist())
            comment = Line(0, 0, 0, b"#" + archive.comment[:200])
        source = ecd_source(
            lambda: _blocks(path, events),
            (lambda: _blocks(path, imu)) if imu in members else None,
            first_bytes(_blocks(path, calib), 4096) if calib in members else b"",
        )
        source.resolution = source.resolution or stated_size([comment])
        return source


def _blocks(path: Path, member: str) -> Iterator[bytes]:
    with zipfile.ZipFile(path) as archive:
        yield from member_blocks(archive, member)


def _events_member(archive: zipfile.ZipFile) -> str | None:
    """Return the ``events.txt`` that lies least deep."""
    names = [name for name in archive.namelist() if name.rpartition("/")[2] == "events.txt"]
    return min(names, key=lambda name: (name.count("/"), name), default=None)


@dataclass(slots=True)
class EcdZipSink:
    """An archive whose member ``events.txt`` grows; ``imu.txt`` follows it."""

    archive: zipfile.ZipFile
    text: TextSink
    imus: list[Imu] = field(default_factory=list)

    def write(self, events: Events) -> None:
        """Append events."""
        self.text.write(events)

    def write_imu(self, imu: Imu) -> None:
        """Append IMU samples."""
        self.imus.append(imu)

    def write_triggers(self, triggers: Triggers) -> None:
        """Say that triggers are lost."""
        if len(triggers):
            logger.warning("ECD archives keep no triggers; left out: %d.", len(triggers))

    def write_frames(self, frames: Iterator[Frame]) -> None:
        """Say that frames are lost."""
        n_frames = sum(1 for _ in frames)
        if n_frames:
            logger.warning("ECD archives are written without frames; left out: %d.", n_frames)

    def finish(self) -> None:
        """Complete the archive."""
        self.text.finish()
        if self.imus:
            with create_member(self.archive, "imu.txt") as file:
                for imu in self.imus:
                    _write_imu(file, imu)
        self.archive.close()

    def abort(self) -> None:
        """Close the archive without completing it."""
        self.text.abort()
        self.archive.close()


def _write_imu(file: IO[bytes], imu: Imu) -> None:
    for t, accel, gyro in zip(
        imu.t.tolist(), imu.accel_m_s2.tolist(), imu.gyro_rad_s.tolist(), strict=True
    ):
        sign, (seconds, rest) = "-" if t < 0 else "", divmod(abs(t), 1_000_000)
        values = " ".join(map(repr, (*accel, *gyro)))
        file.write(f"{sign}{seconds}.{rest:06d} {values}\n".encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class EcdZipWriter:
    """Write ECD archives; the sensor size goes into the comment of the zip file."""

    name: ClassVar[str] = "ecd-zip"
    title: ClassVar[str] = "ECD archive (zip)"
    suffixes: ClassVar[tuple[str, ...]] = (".zip",)
    keeps_signal: ClassVar[bool] = False
    keeps_extras: ClassVar[bool] = True

    compressed: bool = True

    def open(self, path: Path, resolution: tuple[int, int]) -> EcdZipSink:
        """Start an archive."""
        compression = zipfile.ZIP_DEFLATED if self.compressed else zipfile.ZIP_STORED
        archive = zipfile.ZipFile(path, "w", compression, compresslevel=1)
        archive.comment = b"evcrisp width=%d height=%d" % resolution
        file = create_member(archive, "events.txt")
        return EcdZipSink(archive, TextSink(file, " ", True, lambda labeled: b""))
