"""Binary format of events and results for the page: a JSON header and arrays.

::

    bundle   "EVB1" | length of the header, uint32 | header, JSON, padded to 8 bytes | arrays, aligned to 8 bytes

    event    bits 0..14 x | bits 15..29 y | bit 30 polarity | bit 31 label signal     uint32
             microseconds since the start of the window                               uint32
"""

import json
import struct
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.events import Events

MAGIC = b"EVB1"

#: Largest sensor side, px: a coordinate has 15 bits.
MAX_SIDE = 1 << 15

_LOW = np.uint32(MAX_SIDE - 1)
_TYPES = {"u1", "u2", "u4", "f4"}


def pack_pixels(events: Events) -> NDArray[np.uint32]:
    """Return position, polarity and label of each event in one uint32.

    >>> events = Events(x=[5], y=[2], t=[7], p=[1], resolution=(8, 4))
    >>> packed = int(pack_pixels(events)[0])
    >>> packed & 0x7FFF, packed >> 15 & 0x7FFF, packed >> 30 & 1
    (5, 2, 1)
    """
    if max(events.resolution) > MAX_SIDE:
        raise ConfigError(
            f"The viewer supports sensors with sides of up to {MAX_SIDE} px; "
            f"got {events.width}x{events.height}."
        )
    packed = events.x.astype(np.uint32)
    packed |= events.y.astype(np.uint32) << np.uint32(15)
    packed |= events.p.astype(np.uint32) << np.uint32(30)
    if events.signal is not None:
        packed |= events.signal.astype(np.uint32) << np.uint32(31)
    return packed


def unpack_events(
    packed: NDArray[np.uint32],
    t: NDArray[np.int64],
    resolution: tuple[int, int],
    *,
    has_labels: bool,
) -> Events:
    """Return the events of packed pixels and times."""
    return Events.trusted(
        (packed & _LOW).astype(np.uint16),
        ((packed >> np.uint32(15)) & _LOW).astype(np.uint16),
        np.ascontiguousarray(t, np.int64),
        ((packed >> np.uint32(30)) & np.uint32(1)).astype(np.bool_),
        resolution,
        (packed >> np.uint32(31)).astype(np.bool_) if has_labels else None,
    )


def write_bundle(
    facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], deltas: Collection[str] = ()
) -> bytes:
    """Return facts and arrays as bytes; types are u1, u2, u4 and f4, little endian.

    Arrays in ``deltas`` are stored as differences, which compress better.
    """
    table: dict[str, dict[str, Any]] = {}
    pieces: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        kind = array.dtype.str[1:]
        if kind not in _TYPES:
            raise TypeError(f"`{name}` must be one of {sorted(_TYPES)}; got {kind}.")
        table[name] = {"type": kind, "offset": offset, "length": array.size}
        if name in deltas:
            array = np.diff(array, prepend=array.dtype.type(0))  # modulo the type's range
            table[name]["delta"] = True
        data = np.ascontiguousarray(array).astype(f"<{kind}", copy=False).tobytes()
        padding = -len(data) % 8
        pieces += [data, bytes(padding)]
        offset += len(data) + padding
    header = json.dumps({**facts, "arrays": table}, separators=(",", ":")).encode()
    header += b" " * (-(len(header) + 8) % 8)
    return b"".join([MAGIC, struct.pack("<I", len(header)), header, *pieces])


def read_bundle(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the facts and arrays of a bundle.

    >>> facts, arrays = read_bundle(write_bundle({"n": 3}, {"a": np.arange(3, dtype=np.uint16)}))
    >>> facts["n"], arrays["a"].tolist()
    (3, [0, 1, 2])
    """
    if data[:4] != MAGIC:
        raise FormatError("the data are not a bundle")
    try:
        (size,) = struct.unpack_from("<I", data, 4)
        facts = json.loads(data[8 : 8 + size])
        entries = facts.pop("arrays").items()
        arrays = {name: _array(data, 8 + size, entry) for name, entry in entries}
    except _DAMAGE as error:
        raise FormatError(f"a bundle is damaged: {error!r}") from error
    return facts, arrays


#: Errors of decoding a damaged header.
_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, struct.error)


def _array(data: bytes, start: int, entry: dict[str, Any]) -> NDArray[Any]:
    if entry["type"] not in _TYPES or min(entry["offset"], entry["length"]) < 0:
        raise ValueError(f"impossible array {entry}")
    array = np.frombuffer(data, f"<{entry['type']}", entry["length"], start + entry["offset"])
    return np.cumsum(array, dtype=array.dtype) if entry.get("delta") else array


def delta_encoded(bundle: bytes) -> bytes:
    """Return a bundle with differences of times and shifts, which compress better."""
    facts, arrays = read_bundle(bundle)
    slow = {name for name in arrays if name == "dt" or name.startswith("shift_")}
    return write_bundle(facts, arrays, slow)
