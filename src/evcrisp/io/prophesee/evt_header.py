"""The text header of Prophesee files: lines ``% key value``, ended by ``% end`` or by the data."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from evcrisp.core.errors import FormatError

#: Longer headers are not headers.
MAX_HEADER_BYTES = 1 << 16
#: Times that are stated in a header stay below this, us.
MAX_TIME_BASE = 1 << 62
#: Cameras whose old headers state no size, only ``system_ID``.
_VGA, _HD = (640, 480), (1280, 720)
_SYSTEM_SIZES = {
    **dict.fromkeys((0x15, 0x17, 0x19, 0x1C, 0x1D, 0x21, 0x22, 0x23, 0x28, 0x29), _VGA),
    **dict.fromkeys((0x97, 0x99, 0xA1, 0xA2), _VGA),
    **dict.fromkeys((0x1A, 0x1E, 0x1F, 0x27, 0x2E, 0x30, 0x31, 0x32), _HD),
}
#: Cameras before this one send the halves of 64-bit words in the legacy order.
_FIRST_LITTLE_ENDIAN_SYSTEM = 0x37


@dataclass(frozen=True, slots=True)
class PropheseeHeader:
    """Keys (lower case) and values of a header, and where the data starts."""

    fields: dict[str, str]
    size: int  # bytes

    def number(self, key: str) -> int | None:
        """Return a value as an integer, or None."""
        text = self.fields.get(key, "")
        try:
            return int(text, 0) if text.lower().startswith("0x") else int(text)
        except ValueError:
            return None

    @property
    def time_base(self) -> int:
        """What faery and evcrisp subtracted from all times (``% t0``), us."""
        t_base = self.number("t0") or 0
        if abs(t_base) >= MAX_TIME_BASE:
            raise FormatError(f"the header says t0 = {t_base} us, which no clock reaches")
        return t_base

    @property
    def format_options(self) -> dict[str, str]:
        """The ``name=value`` parts of ``% format EVT3;height=720;width=1280``."""
        parts = self.fields.get("format", "").split(";")[1:]
        pairs = (part.partition("=") for part in parts)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}

    @property
    def format_name(self) -> str | None:
        """``EVT2``, ``EVT21``, ``EVT3``, or what else the header says; None if nothing."""
        name = self.fields.get("format", "").split(";")[0].strip().upper()
        if name:
            return name.replace(".", "")
        version = self.fields.get("evt", "").strip()
        return {"2.0": "EVT2", "2.1": "EVT21", "3.0": "EVT3"}.get(version, version) or None

    @property
    def is_from_prophesee(self) -> bool:
        """Whether no other maker signed the file."""
        keys = ("integrator_name", "camera_integrator_name", "plugin_integrator_name")
        return all(self.fields.get(key, "Prophesee") == "Prophesee" for key in keys)

    @property
    def resolution(self) -> tuple[int, int] | None:
        """``(width, height)``, px; None where the header does not say, or contradicts itself."""
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
        """Whether the halves of 64-bit words are swapped, by the rules of the vendor's software."""
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
    """Parse the header at the start of some bytes; its size is 0 where there is none."""
    fields: dict[str, str] = {}
    position = 0
    while data.startswith(b"%", position):
        end = data.find(b"\n", position, position + 4096)
        line = data[position + 1 : end].rstrip(b"\r")
        # The data may start with the byte of '%' too, but hardly with a line of text.
        if end < 0 or any(byte < 32 and byte != 9 for byte in line):
            break
        position = end + 1
        key, _, value = line.decode("latin-1").strip().partition(" ")
        if key == "end":
            break
        if key:
            fields[key.lower()] = value.strip()
    return PropheseeHeader(fields, position)


def read_header(file: BinaryIO) -> PropheseeHeader:
    """Read the header of an open file, which is left at the start of the data."""
    file.seek(0)
    header = parse_header(file.read(MAX_HEADER_BYTES))
    file.seek(header.size)
    return header


def header_of(path: Path) -> PropheseeHeader:
    """Return the header of a file."""
    with path.open("rb") as file:
        return read_header(file)
