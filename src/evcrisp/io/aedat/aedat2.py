"""AEDAT 2.0 of jAER: words of a 32-bit address and a 32-bit time, big-endian, after a text header.

The rows of the file count from the bottom and its columns from the right, as in jAER; both are
turned here. Words of the frame sensor (APS) are passed over.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2, Imu, TriggerKind, Triggers
from evcrisp.io.aedat.aedat2_chip import Chip, find_chip
from evcrisp.io.protocol import PACKET_EVENTS, Packet, Source
from evcrisp.io.standard_sizes import DVS_SIZES

_MAGIC = b"#!AER-DAT2.0"
_WORD_BYTES = 8
_PEEK_WORDS = 1 << 16
_MAX_HEADER_BYTES = 1 << 26
_MAX_LINE_BYTES = 1 << 16

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NOT_DVS = 0x80000000  # a word of the frame sensor or the IMU
_IMU = 0x80000C00
_EXTERNAL = 0x400  # a DAVIS word that marks an external signal
_EXTERNAL_DVS128 = 0x80008000
_EDGES = {2: TriggerKind.FALLING_EDGE, 4: TriggerKind.PULSE}


@dataclass(slots=True)
class Aedat2Source(Source):
    """An open AEDAT 2.0 file."""

    path: Path = field(kw_only=True)
    start: int = field(kw_only=True)  # byte of the first word
    chip: Chip = field(kw_only=True)

    def _words(self) -> Iterator[tuple[int, NDArray[np.uint32], NDArray[np.int64]]]:
        """Yield (byte, addresses, times in us)."""
        offset = self.start
        t_last: int | None = None
        with self.path.open("rb") as file:
            file.seek(self.start)
            while block := file.read(_WORD_BYTES * PACKET_EVENTS):
                n = len(block) // _WORD_BYTES
                words = np.frombuffer(block, ">u4", 2 * n).astype(np.uint32).reshape(n, 2)
                if n:
                    t = _unwrapped(words[:, 1], t_last)
                    t_last = int(t[-1])
                    yield offset, words[:, 0], t
                offset += n * _WORD_BYTES
                if len(block) % _WORD_BYTES:
                    raise FormatError("the file ends within a word", offset=offset)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        width, height = self.chip.resolution
        davis = self.chip.is_davis
        for offset, words, t in self._words():
            other = words & (_NOT_DVS | _EXTERNAL if davis else _EXTERNAL_DVS128)
            index = np.flatnonzero(other == 0)
            a = words[index]
            column = a >> 12 & 0x3FF if davis else a >> 1 & 0x7F
            row = a >> 22 & 0x1FF if davis else a >> 8 & 0x7F
            yield Packet(
                x=(width - 1 - column.astype(np.int32)).astype(np.uint16),
                y=(height - 1 - row.astype(np.int32)).astype(np.uint16),
                t=t[index],
                p=a & 0x800 != 0 if davis else a & 1 == 0,
                offset=offset,
            )

    def imu(self) -> Imu | None:
        """Return the IMU samples, in the axes of the file."""
        words, t, damage = self._picked(_IMU, _IMU) if self.chip.is_davis else _NOTHING
        samples = _imu(words, t, self.chip)
        if damage is not None:
            damage.partial = samples
            raise damage
        return samples

    def triggers(self) -> Triggers | None:
        """Return the external signals."""
        if self.chip.is_davis:
            words, t, damage = self._picked(_NOT_DVS | _EXTERNAL, _EXTERNAL)
            codes = words & 0x3FF
        else:
            words, t, damage = self._picked(0x8000, 0x8000)
            codes = np.zeros_like(words)
        kind = np.full(t.size, TriggerKind.RISING_EDGE, np.uint8)
        for code, edge in _EDGES.items():
            kind[codes == code] = edge
        found = Triggers(t=t, kind=kind, channel=np.zeros(t.size, np.uint8)) if t.size else None
        if damage is not None:
            damage.partial = found
            raise damage
        return found

    def _picked(
        self, mask: int, value: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], FormatError | None]:
        """Return the words of one kind with their times, and the damage that ended the file."""
        words, times = [_NOTHING[0]], [_NOTHING[1]]
        damage = None
        try:
            for _, block, t in self._words():
                index = np.flatnonzero(block & mask == value)
                words.append(block[index])
                times.append(t[index])
        except FormatError as error:
            damage = error
        return np.concatenate(words), np.concatenate(times), damage


_NOTHING: tuple[NDArray[np.uint32], NDArray[np.int64], FormatError | None] = (
    np.empty(0, np.uint32),
    np.empty(0, np.int64),
    None,
)


def _unwrapped(low: NDArray[np.uint32], t_last: int | None) -> NDArray[np.int64]:
    """Continue 32-bit times beyond a wrap: each step is the one that is nearest to none."""
    first = int(low[0]) if t_last is None else t_last
    steps = np.empty(low.size, np.int64)
    steps[0] = np.uint32((int(low[0]) - first) & 0xFFFFFFFF).astype(np.int32)
    steps[1:] = (low[1:] - low[:-1]).view(np.int32)
    return first + np.cumsum(steps)


def _imu(words: NDArray[np.uint32], t: NDArray[np.int64], chip: Chip) -> Imu | None:
    """Join words of one value each to samples: accel x y z, temperature, gyro x y z."""
    code = words >> 28 & 7
    first = np.flatnonzero(code[: max(code.size - 6, 0)] == 0)
    parts = first[:, None] + np.arange(7)
    # A sample that lost words, or that the end of the file cuts off, is left out.
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


@dataclass(frozen=True, slots=True)
class Aedat2Reader:
    """Read AEDAT 2.0 files of DVS128 and DAVIS sensors."""

    name: ClassVar[str] = "aedat2"
    title: ClassVar[str] = "AEDAT 2.0 (jAER)"
    suffixes: ClassVar[tuple[str, ...]] = (".aedat", ".aedat2")
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = DVS_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the first line."""
        return head.startswith(_MAGIC)

    def open(self, path: Path) -> Aedat2Source:
        """Read the header, and the first words where it does not name the sensor."""
        with path.open("rb") as file:
            header = _read_header(file)
            block = file.read(_WORD_BYTES * _PEEK_WORDS)
        n = len(block) // _WORD_BYTES
        addresses = np.frombuffer(block, ">u4", 2 * n).astype(np.uint32)[::2]
        chip = find_chip(header, addresses, len(header))
        return Aedat2Source(
            resolution=chip.resolution,
            metadata={"chip": chip.name},
            path=path,
            start=len(header),
            chip=chip,
        )


def _read_header(file: IO[bytes]) -> bytes:
    """Return the lines that begin with #, and leave the file behind them."""
    lines = [file.readline(_MAX_LINE_BYTES)]
    if not lines[0].startswith(_MAGIC):
        shown = ascii(lines[0][:20].decode("latin-1"))
        raise FormatError(f"the file must begin with {_MAGIC.decode()!r}; got {shown}")
    n_bytes = len(lines[0])
    while n_bytes < _MAX_HEADER_BYTES:
        line = file.readline(_MAX_LINE_BYTES)
        # Nothing marks the end, and a word may begin with # too; text has no control characters.
        if not line.startswith(b"#") or _CONTROL.search(line):
            break
        lines.append(line)
        n_bytes += len(line)
    file.seek(n_bytes)
    return b"".join(lines)
