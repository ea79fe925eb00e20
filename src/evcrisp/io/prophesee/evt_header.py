"""Read and write the text header of Prophesee files: lines ``% key value``, then ``% end``.

Older files have no line ``% end``; their header ends at the first byte of data.
"""

import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

from evcrisp.core.errors import FormatError, OutputError
from evcrisp.core.events import Events
from evcrisp.io.protocol import PACKET_EVENTS, Columns, FileSink, slices

logger = logging.getLogger(__name__)

#: Limit for reading; real headers have less than 1 kB.
_MAX_HEADER_BYTES = 1 << 16
#: Limit of times stated in a header, us.
_MAX_TIME_BASE = 1 << 62
#: Sizes by ``system_ID``, for cameras whose old headers state no size.
_VGA, _HD = (640, 480), (1280, 720)
_SYSTEM_SIZES = {
    **dict.fromkeys((0x15, 0x17, 0x19, 0x1C, 0x1D, 0x21, 0x22, 0x23, 0x28, 0x29), _VGA),
    **dict.fromkeys((0x97, 0x99, 0xA1, 0xA2), _VGA),
    **dict.fromkeys((0x1A, 0x1E, 0x1F, 0x27, 0x2E, 0x30, 0x31, 0x32), _HD),
}
#: Systems with lower numbers send the halves of 64-bit words in the legacy order.
_FIRST_LITTLE_ENDIAN_SYSTEM = 0x37


@dataclass(frozen=True, slots=True)
class PropheseeHeader:
    """Keys (lower case) and values of a header."""

    fields: dict[str, str]
    size: int  # bytes; the data starts there

    def number(self, key: str) -> int | None:
        """Return a value as an integer, or None."""
        text = self.fields.get(key, "")
        try:
            return int(text, 0) if text.lower().startswith("0x") else int(text)
        except ValueError:
            return None

    @property
    def time_base(self) -> int:
        """Time that faery or evcrisp subtracted from all times (``% t0``), us."""
        t_base = self.number("t0") or 0
        if abs(t_base) >= _MAX_TIME_BASE:
            raise FormatError(f"the header states the impossible time t0 = {t_base} us")
        return t_base

    @property
    def format_options(self) -> dict[str, str]:
        """The ``name=value`` parts of ``% format EVT3;height=720;width=1280``."""
        parts = self.fields.get("format", "").split(";")[1:]
        pairs = (part.partition("=") for part in parts)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}

    @property
    def format_name(self) -> str | None:
        """``EVT2``, ``EVT21``, ``EVT3`` or another name; None if the header states none."""
        name = self.fields.get("format", "").split(";")[0].strip().upper()
        if name:
            return name.replace(".", "")
        version = self.fields.get("evt", "").strip()
        return {"2.0": "EVT2", "2.1": "EVT21", "3.0": "EVT3"}.get(version, version) or None

    @property
    def is_from_prophesee(self) -> bool:
        """Whether the header names no other maker."""
        keys = ("integrator_name", "camera_integrator_name", "plugin_integrator_name")
        return all(self.fields.get(key, "Prophesee") == "Prophesee" for key in keys)

    @property
    def resolution(self) -> tuple[int, int] | None:
        """``(width, height)``, px; None if the header states none, or several."""
        options = self.format_options
        pairs = [
            (options.get("width"), options.get("height")),
            tuple(self.fields.get("geometry", "").lower().split("x")),
            (self.fields.get("width"), self.fields.get("height")),
        ]
        sizes = {size for size in map(_as_size, pairs) if size is not None}
        if not sizes and self.is_from_prophesee:
            return _SYSTEM_SIZES.get(self.number("system_id") or 0)
        return sizes.pop() if len(sizes) == 1 else None

    @property
    def has_legacy_halves(self) -> bool:
        """Whether the halves of 64-bit words are swapped, as the vendor's software decides it."""
        order = self.format_options.get("endianness") or self.fields.get("endianness")
        if order:
            return order.lower() == "legacy"
        system = self.number("system_id") or 0
        return self.is_from_prophesee and 0 < system < _FIRST_LITTLE_ENDIAN_SYSTEM


def _as_size(pair: tuple[str | None, ...]) -> tuple[int, int] | None:
    if len(pair) != 2 or not all(text and text.strip().isdecimal() for text in pair):
        return None
    width, height = (int(str(text)) for text in pair)
    return (width, height) if 0 < width <= 1 << 14 and 0 < height <= 1 << 14 else None


def parse_header(data: bytes) -> PropheseeHeader:
    """Parse the header at the start of some bytes; its size is 0 if there is none."""
    fields: dict[str, str] = {}
    position = 0
    while data.startswith(b"%", position):
        end = data.find(b"\n", position, position + 4096)
        line = data[position + 1 : end].rstrip(b"\r")
        # Data can start with the byte '%' too, but control characters end the header.
        if end < 0 or any(byte < 32 and byte != 9 for byte in line):
            break
        position = end + 1
        key, _, value = line.decode("latin-1").strip().partition(" ")
        if key == "end":
            break
        if key:
            fields[key.lower()] = value.strip()
    return PropheseeHeader(fields, position)


def read_header(path: Path) -> PropheseeHeader:
    """Return the header of a file."""
    with path.open("rb") as file:
        return parse_header(file.read(_MAX_HEADER_BYTES))


_OTHER_FORMAT = "use another format, such as npz."
#: Remedy for a pause that a format does not keep.
SPLIT = f"Split the recording there, or {_OTHER_FORMAT}"


def check_size(title: str, resolution: tuple[int, int], limit: int) -> None:
    """Raise if a sensor exceeds the coordinates of a format."""
    if max(resolution) > limit:
        raise OutputError(
            f"{title} keeps sensors up to {limit}x{limit} px; got {resolution[0]}x{resolution[1]}.",
            remedy=_OTHER_FORMAT.capitalize(),
        )


@dataclass(slots=True, kw_only=True)
class HeadedSink(FileSink, ABC):
    """An output whose header is written with the first events and can state their time."""

    title: str
    max_start: int  # us; a first time from here on goes to the header, and the words start at 0
    t_origin: int | None = field(default=None, init=False)

    @abstractmethod
    def header(self, t_origin: int) -> bytes:
        """Return the header, which states ``t_origin`` unless it is 0."""

    @abstractmethod
    def write_columns(self, columns: Columns) -> None:
        """Append contiguous columns of at least one event, with time since the origin."""

    def flush(self) -> None:
        """Write events that are kept back."""

    def first_time(self) -> int | None:
        """Return the time of the first item beside the events, us, or None."""
        return None

    def write(self, events: Events) -> None:
        """Append events."""
        for rows in slices(len(events), PACKET_EVENTS):
            part = events[rows].contiguous()
            if self.t_origin is None:
                self._start(int(part.t[0]))
            t = part.t - self.t_origin if self.t_origin else part.t
            self.write_columns(Columns(part.x, part.y, t, part.p))

    def finish(self) -> None:
        """Complete and close the file."""
        if self.t_origin is None:
            self._start(None)
        self.flush()
        self.file.close()

    def _start(self, first_event: int | None) -> None:
        times = [t for t in (first_event, self.first_time()) if t is not None]
        self.t_origin = self._origin(min(times)) if times else 0
        self.file.write(self.header(self.t_origin))

    def _origin(self, first: int) -> int:
        """Return the time to subtract: 0, or a first time that the words cannot express."""
        if not 0 <= first < _MAX_TIME_BASE:
            which = "before 0" if first < 0 else f"from {_MAX_TIME_BASE} us on"
            raise OutputError(
                f"{self.title} has no time {which}; the first event is at {first} us.",
                remedy=f"Shift the time (`evcrisp convert --start-at-zero`), or {_OTHER_FORMAT}",
            )
        if first < self.max_start:
            return 0
        logger.warning(
            "%s has no words for a first time of %d us. It goes to the line `t0` of the header, "
            "which evcrisp and faery add. In other programs the recording starts at 0.",
            *(self.title, first),
        )
        return first
