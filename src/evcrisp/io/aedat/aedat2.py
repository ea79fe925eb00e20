"""Read AEDAT 2.0 of jAER: a text header, then a 32-bit address and a 32-bit time, big-endian.

In the file, rows count from the bottom and columns from the right; both are flipped here. Words of
the frame sensor (APS) are skipped.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2, Imu, TriggerKind, Triggers
from evcrisp.io.byte_blocks import read_records
from evcrisp.io.looping_clock import last_block_before
from evcrisp.io.protocol import DVS_SIZES, Packet, Reader, Source, keeping

T = TypeVar("T")

_MAGIC = b"#!AER-DAT2.0"
_WORD_BYTES = 8
_MAX_HEADER_BYTES = 1 << 26
_MAX_LINE_BYTES = 1 << 16
#: Bytes between two samples of the clock, and of a sample: 2048 and 512 words.
_BLOCK_BYTES, _SAMPLE_BYTES = _WORD_BYTES << 11, _WORD_BYTES << 9
_CLOCK_BITS = 32
#: IMU samples and triggers may be this much out of order, us.
_DISORDER_US = 1_000_000

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NOT_DVS = 0x80000000  # a word of the frame sensor or the IMU
_IMU = 0x80000C00
_EXTERNAL = 0x400  # a DAVIS word that marks an external signal
_EXTERNAL_DVS128 = 0x80008000
_EDGES = {2: TriggerKind.FALLING_EDGE, 4: TriggerKind.PULSE}

#: (width, height) of a chip, and the first letters of the names of jAER's classes for it.
_DAVIS = {
    (240, 180): ("davis240", "sbret"),
    (346, 260): "davis346",
    (128, 128): "davis128",
    (208, 192): "davis208",
    (640, 480): "davis640",
}
_DVS128 = ("dvs128", "tmpdiff128")

#: LSB per g and per deg/s of the IMU (MPU-6100) by full scale; jAER sets 8 g and 1000 deg/s.
_ACCEL_LSB = {2: 16384.0, 4: 8192.0, 8: 4096.0, 16: 2048.0}
_GYRO_LSB = {250: 131.0, 500: 65.5, 1000: 32.8, 2000: 16.4}

_AECHIP = re.compile(rb"^#\s*AEChip:\s*(\S+)", re.MULTILINE)
_HARDWARE = re.compile(rb"^#\s*HardwareInterface:\s*([^\r\n]*)", re.MULTILINE)
#: "created Wed Sep 16 12:09:08 CEST 2015", in newer files "Creation date: ...".
_CREATED = re.compile(rb"^#\s*(?:created|Creation date:)\s+([ -~]{6,60}?)\s*$", re.MULTILINE)
#: "DAVIS FX2 84010032", "DVS128-V1 0249": the last word with digits only.
_SERIAL = re.compile(rb"\s([0-9]{3,12})$")
_ACCEL_SCALE = re.compile(rb'ImuAccelScale" value="\D*(\d{1,5})"')
_GYRO_SCALE = re.compile(rb'ImuGyroScale" value="\D*(\d{1,5})"')


@dataclass(frozen=True, slots=True)
class _Chip:
    """A sensor and the scales of its words."""

    name: str
    resolution: tuple[int, int]
    is_davis: bool
    accel_lsb_per_g: float = 4096.0
    gyro_lsb_per_deg_s: float = 32.8


def find_chip(header: bytes, addresses: NDArray[np.uint32], offset: int) -> _Chip:
    """Return the sensor named in a header, or the one that fits the first addresses."""
    named = _AECHIP.search(header)
    if named is not None:
        name = named[1].decode("latin-1").rpartition(".")[2]
        if name.lower().startswith(_DVS128):
            return _Chip(name, (128, 128), False)
        sizes = (size for size, start in _DAVIS.items() if name.lower().startswith(start))
        size = next(sizes, None)
        if size is None:
            raise FormatError(f"unknown chip {name!r}; known are DVS128 and DAVIS chips")
        return _davis(name, size, header)
    hardware = _HARDWARE.search(header)
    interface = "" if hardware is None else hardware[1].decode("latin-1").lower()
    # DVS128 words have 16 bits (and bit 31 as a mark).
    if "dvs128" in interface or not (addresses & 0x7FFF0000).any():
        return _Chip("DVS128", (128, 128), False)
    events = addresses[addresses & 0x80000400 == 0]
    width = int((events >> 12 & 0x3FF).max(initial=0)) + 1
    height = int((events >> 22 & 0x1FF).max(initial=0)) + 1
    for size in ((240, 180), (346, 260), (640, 480)):
        if width <= size[0] and height <= size[1]:
            return _davis(f"DAVIS{size[0]}", size, header)
    raise FormatError(f"no known chip has addresses up to {width}x{height}", offset=offset)


def _davis(name: str, size: tuple[int, int], header: bytes) -> _Chip:
    accel, gyro = _ACCEL_SCALE.search(header), _GYRO_SCALE.search(header)
    accel_lsb = _ACCEL_LSB.get(int(accel[1]) if accel else 8, 4096.0)
    gyro_lsb = _GYRO_LSB.get(int(gyro[1]) if gyro else 1000, 32.8)
    return _Chip(name, size, True, accel_lsb, gyro_lsb)


@dataclass(slots=True, kw_only=True)
class _Aedat2Source(Source):
    start: int  # byte of the first word
    chip: _Chip
    span: tuple[int, int | None] | None = None  # us, to skip words outside

    def between(self, t_start: int, t_end: int | None) -> "_Aedat2Source":
        """Return a source that skips blocks by the times of their first events."""
        return replace(self, span=(t_start, t_end))

    def _words(
        self, lead_us: int = 0
    ) -> Iterator[tuple[int, NDArray[np.uint32], NDArray[np.int64]]]:
        """Yield (byte, addresses, times in us), from ``lead_us`` before the span on."""
        start, loops = self._first_word(lead_us)
        t_last: int | None = None
        for offset, data in read_records(self.path, start, _WORD_BYTES):
            words = np.frombuffer(data, ">u4").astype(np.uint32).reshape(-1, 2)
            t = _unwrapped(words[:, 1], t_last)
            t_last = int(t[-1])
            yield offset, words[:, 0], t + loops
            t_end = None if self.span is None else self.span[1]
            if t_end is not None and t[0] + loops >= t_end + lead_us:
                return

    def _first_word(self, lead_us: int) -> tuple[int, int]:
        """Return the byte where reading starts, and the loops of the clock before it, us."""
        if self.span is None:
            return self.start, 0
        mask = self._other_mask()
        with self.path.open("rb", buffering=0) as file:

            def sample(block: int) -> int | None:
                file.seek(self.start + block * _BLOCK_BYTES)
                words = np.frombuffer(file.read(_SAMPLE_BYTES), ">u4").astype(np.uint32)
                events = np.flatnonzero(words[::2] & mask == 0)
                return int(_unwrapped(words[1::2], None)[events[0]]) if events.size else None

            n_blocks = (self.path.stat().st_size - self.start) // _BLOCK_BYTES
            t_start = self.span[0] - lead_us
            block, loops = last_block_before(t_start, n_blocks, sample, _CLOCK_BITS)
        return self.start + block * _BLOCK_BYTES, loops

    def _other_mask(self) -> int:
        """Return the bits that are set in words that are no events."""
        return _NOT_DVS | _EXTERNAL if self.chip.is_davis else _EXTERNAL_DVS128

    def packets(self) -> Iterator[Packet]:
        width, height = self.chip.resolution
        davis = self.chip.is_davis
        for offset, words, t in self._words():
            index = np.flatnonzero(words & self._other_mask() == 0)
            a = words[index]
            column = a >> 12 & 0x3FF if davis else a >> 1 & 0x7F
            row = a >> 22 & 0x1FF if davis else a >> 8 & 0x7F
            x = (width - 1 - column.astype(np.int32)).astype(np.uint16)
            y = (height - 1 - row.astype(np.int32)).astype(np.uint16)
            yield Packet(x, y, t[index], a & 0x800 != 0 if davis else a & 1 == 0, offset)

    def imu(self) -> Imu | None:
        """Return the IMU samples, in the axes of the file."""
        if not self.chip.is_davis:
            return None
        return self._collect(_IMU, _IMU, lambda words, t: _imu(words, t, self.chip))

    def triggers(self) -> Triggers | None:
        if self.chip.is_davis:
            return self._collect(_NOT_DVS | _EXTERNAL, _EXTERNAL, _triggers)
        return self._collect(0x8000, 0x8000, lambda words, t: _triggers(np.zeros_like(words), t))

    def _collect(
        self, mask: int, value: int, convert: Callable[[NDArray[np.uint32], NDArray[np.int64]], T]
    ) -> T:
        """Return the converted words of one kind with their times."""
        words, times = [np.empty(0, np.uint32)], [np.empty(0, np.int64)]

        def converted() -> T:
            return convert(np.concatenate(words), np.concatenate(times))

        with keeping(converted):
            for _, block, t in self._words(_DISORDER_US):
                index = np.flatnonzero(block & mask == value)
                words.append(block[index])
                times.append(t[index])
        return converted()


def _triggers(words: NDArray[np.uint32], t: NDArray[np.int64]) -> Triggers | None:
    kind = np.full(t.size, TriggerKind.RISING_EDGE, np.uint8)
    for code, edge in _EDGES.items():
        kind[words & 0x3FF == code] = edge
    return Triggers(t=t, kind=kind, channel=np.zeros(t.size, np.uint8)) if t.size else None


def _unwrapped(low: NDArray[np.uint32], t_last: int | None) -> NDArray[np.int64]:
    """Continue 32-bit times beyond a wrap, by the smallest possible step."""
    first = int(low[0]) if t_last is None else t_last
    steps = np.empty(low.size, np.int64)
    steps[0] = np.uint32((int(low[0]) - first) & 0xFFFFFFFF).astype(np.int32)
    steps[1:] = (low[1:] - low[:-1]).view(np.int32)
    return first + np.cumsum(steps)


def _imu(words: NDArray[np.uint32], t: NDArray[np.int64], chip: _Chip) -> Imu | None:
    """Join seven words to a sample: accel x y z, temperature, gyro x y z."""
    code = words >> 28 & 7
    first = np.flatnonzero(code[: max(code.size - 6, 0)] == 0)
    parts = first[:, None] + np.arange(7)
    # Incomplete samples are left out.
    parts = parts[(code[parts] == np.arange(7)).all(axis=1)]
    if len(parts) == 0:
        return None
    values = (words[parts] >> 12 & 0xFFFF).astype(np.uint16).view(np.int16).astype(np.float64)
    return Imu(
        t=t[parts[:, 0]],
        gyro_rad_s=np.deg2rad(values[:, 4:] / chip.gyro_lsb_per_deg_s),
        accel_m_s2=values[:, :3] / chip.accel_lsb_per_g * STANDARD_GRAVITY_M_S2,
        temperature_c=values[:, 3] / 340.0 + 35.0,
    )


class Aedat2Reader(Reader):
    """Read AEDAT 2.0 files of DVS128 and DAVIS sensors."""

    name = "aedat2"
    title = "AEDAT 2.0 (jAER)"
    suffixes = (".aedat", ".aedat2")
    magic = (_MAGIC,)
    standard_sizes = DVS_SIZES

    def open(self, path: Path) -> _Aedat2Source:
        """Read the header, and the first words in case it does not name the sensor."""
        with path.open("rb") as file:
            header = _read_header(file)
            block = file.read(_WORD_BYTES << 16)
        n = len(block) // _WORD_BYTES
        addresses = np.frombuffer(block, ">u4", 2 * n).astype(np.uint32)[::2]
        chip = find_chip(header, addresses, len(header))
        facts, start = {"chip": chip.name, **_stated_facts(header)}, len(header)
        return _Aedat2Source(chip.resolution, facts, path=path, start=start, chip=chip)


def _stated_facts(header: bytes) -> dict[str, str]:
    """Return date and serial number, as far as a header states them."""
    created, hardware = _CREATED.search(header), _HARDWARE.search(header)
    serial = None if hardware is None else _SERIAL.search(hardware[1].rstrip())
    found = {"date": created, "serial_number": serial}
    return {name: match[1].decode("ascii") for name, match in found.items() if match is not None}


def _read_header(file: IO[bytes]) -> bytes:
    """Return the lines that start with #; the file is positioned after them."""
    lines = [file.readline(_MAX_LINE_BYTES)]
    if not lines[0].startswith(_MAGIC):
        shown = ascii(lines[0][:20].decode("latin-1"))
        raise FormatError(f"the file must start with {_MAGIC.decode()!r}; got {shown}")
    n_bytes = len(lines[0])
    while n_bytes < _MAX_HEADER_BYTES:
        line = file.readline(_MAX_LINE_BYTES)
        # No mark ends the header, and a word can start with # too; text has no control characters.
        if not line.startswith(b"#") or _CONTROL.search(line):
            break
        lines.append(line)
        n_bytes += len(line)
    file.seek(n_bytes)
    return b"".join(lines)
