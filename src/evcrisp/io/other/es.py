"""Read and write Event Stream 2 (.es) of neuromorphicsystems, type DVS; rows are flipped."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evcrisp.core.errors import EventDataError, FormatError
from evcrisp.core.events import Events
from evcrisp.io.protocol import (
    PACKET_EVENTS,
    Columns,
    FileSink,
    Packet,
    Reader,
    Source,
    Writer,
    slices,
)

_MAGIC = b"Event Stream"
_TYPES = {0: "generic", 1: "DVS", 2: "ATIS", 3: "display", 4: "color"}
_HEADER_BYTES = 20
_BLOCK_BYTES = 5 * PACKET_EVENTS
_WRITE_EVENTS = 1 << 16
#: Limit of a gap, us, which takes 64 MiB of filler bytes.
MAX_GAP_US = 127 << 26
_SHIFT = "Shift the events to start near 0 (`evcrisp convert --start-at-zero`)."


class _EsSource(Source):
    def packets(self) -> Iterator[Packet]:
        from evcrisp.kernels.io.es import decode_dvs

        _, height = self.resolution or (0, 0)
        state = np.zeros(3, np.int64)
        offset, rest = _HEADER_BYTES, b""
        with self.path.open("rb") as file:
            file.seek(_HEADER_BYTES)
            while block := file.read(_BLOCK_BYTES):
                data = np.frombuffer(rest + block, np.uint8)
                columns = Columns.empty(data.size // 5 + 1)
                state[:2] = 0
                decode_dvs(data, height, *columns, state)
                yield Packet(*columns.part(slice(int(state[1]))), offset)
                rest = data[int(state[0]) :].tobytes()
                offset += int(state[0])
        if rest:
            raise FormatError("the file ends within an event", offset=offset)


class EsReader(Reader):
    """Read Event Stream files of type DVS."""

    name = "es"
    title = "Event Stream (.es)"
    suffixes = (".es",)
    magic = (_MAGIC,)

    def open(self, path: Path) -> _EsSource:
        """Read the header."""
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
        if not head.startswith(_MAGIC):
            raise FormatError("the file does not start with 'Event Stream'")
        if len(head) < 16:
            raise FormatError("the file ends within the header", offset=len(head))
        version = ".".join(str(number) for number in head[12:15])
        if head[12] != 2:
            raise FormatError(f"Event Stream version {version} is not read; expected 2", offset=12)
        if head[15] != 1:
            kind = _TYPES.get(head[15], f"number {head[15]}")
            raise FormatError(f"the events are of type {kind}; only DVS is read", offset=15)
        if len(head) < _HEADER_BYTES:
            raise FormatError("the file ends within the header", offset=len(head))
        width, height = struct.unpack("<HH", head[16:])
        if width == 0 or height == 0:
            raise FormatError(f"impossible sensor size {width}x{height}", offset=16)
        return _EsSource(resolution=(width, height), metadata={"version": version}, path=path)


@dataclass(slots=True, kw_only=True)
class _EsSink(FileSink):
    height: int
    t_last: int = 0
    is_empty: bool = True

    def write(self, events: Events) -> None:
        if len(events) and events.t[0] < 0:
            problem = f"Event Stream has no time before 0; got t={events.t[0]} us."
            raise EventDataError(problem, remedy=_SHIFT)
        for part in slices(len(events), _WRITE_EVENTS):
            self._write_part(events[part].contiguous())

    def _write_part(self, part: Events) -> None:
        from evcrisp.kernels.io.es import FILLER_US, encode_dvs

        gaps = np.diff(part.t, prepend=self.t_last)
        if gaps.min() < 0:
            raise EventDataError(f"Time must not decrease; it falls by {-gaps.min()} us.")
        n_fillers = int((gaps // FILLER_US).sum())
        if n_fillers > MAX_GAP_US // FILLER_US:
            if len(part) == 1:
                raise self._too_long(int(gaps[0]), FILLER_US)
            half = len(part) // 2
            self._write_part(part[:half])
            self._write_part(part[half:])
            return
        out = np.empty(5 * len(part) + n_fillers, np.uint8)
        n_bytes = encode_dvs(part.x, part.y, part.t, part.p, self.height, self.t_last, out)
        self.file.write(out[:n_bytes].data)
        self.t_last, self.is_empty = int(part.t[-1]), False

    def _too_long(self, gap: int, filler_us: int) -> EventDataError:
        cost = f"Event Stream needs a byte per {filler_us} us: {gap // filler_us >> 20} MiB"
        if self.is_empty:
            return EventDataError(f"{cost} before the first event at {gap} us.", remedy=_SHIFT)
        return EventDataError(
            f"{cost} for the pause of {gap} us after the event at {self.t_last} us.",
            remedy="Split the recording there, or use another format, such as npz.",
        )


@dataclass(frozen=True, slots=True)
class EsWriter(Writer):
    """Write Event Stream 2.0.0 files of type DVS."""

    name = "es"
    title = "Event Stream (.es)"
    suffixes = (".es",)

    def open(self, path: Path, resolution: tuple[int, int]) -> _EsSink:
        """Start a file."""
        width, height = resolution
        if width > 65_535 or height > 65_535:
            raise EventDataError(f"Event Stream keeps sides up to 65535 px; got {width}x{height}.")
        file = path.open("wb")
        file.write(_MAGIC + struct.pack("<4BHH", 2, 0, 0, 1, width, height))
        return _EsSink(file=file, height=height)
