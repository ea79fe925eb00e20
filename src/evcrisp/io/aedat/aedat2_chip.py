"""Which sensor wrote an AEDAT 2.0 file: from its header, else from the addresses."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError

#: Beginnings of the names of jAER's chip classes, with (width, height).
_DAVIS = {
    "davis240": (240, 180),
    "sbret": (240, 180),
    "davis346": (346, 260),
    "davis128": (128, 128),
    "davis208": (208, 192),
    "davis640": (640, 480),
}
_DVS128 = ("dvs128", "tmpdiff128")

#: LSB per g and per deg/s of the IMU (MPU-6100) by its full scale; jAER sets 8 g and 1000 deg/s.
_ACCEL_LSB = {2: 16384.0, 4: 8192.0, 8: 4096.0, 16: 2048.0}
_GYRO_LSB = {250: 131.0, 500: 65.5, 1000: 32.8, 2000: 16.4}

_AECHIP = re.compile(rb"^#\s*AEChip:\s*(\S+)", re.MULTILINE)
_HARDWARE = re.compile(rb"^#\s*HardwareInterface:\s*([^\r\n]*)", re.MULTILINE)
_ACCEL_SCALE = re.compile(rb'ImuAccelScale" value="\D*(\d{1,5})"')
_GYRO_SCALE = re.compile(rb'ImuGyroScale" value="\D*(\d{1,5})"')


@dataclass(frozen=True, slots=True)
class Chip:
    """A sensor, and how its words are to be taken."""

    name: str
    resolution: tuple[int, int]
    is_davis: bool
    accel_lsb_per_g: float = 4096.0
    gyro_lsb_per_deg_s: float = 32.8


def find_chip(header: bytes, addresses: NDArray[np.uint32], offset: int) -> Chip:
    """Return the sensor that a header names, or that fits the first addresses.

    Raises
    ------
    FormatError
        If the header names a chip whose addresses are not known here, or no chip fits.
    """
    named = _AECHIP.search(header)
    if named is not None:
        name = named[1].decode("latin-1").rpartition(".")[2]
        if name.lower().startswith(_DVS128):
            return Chip(name, (128, 128), False)
        sizes = (size for start, size in _DAVIS.items() if name.lower().startswith(start))
        size = next(sizes, None)
        if size is None:
            raise FormatError(f"the chip {name!r} is not known; known are DVS128 and DAVIS chips")
        return _davis(name, size, header)
    hardware = _HARDWARE.search(header)
    interface = "" if hardware is None else hardware[1].decode("latin-1").lower()
    # DVS128 words have 16 bits (and bit 31 as a mark).
    if "dvs128" in interface or not (addresses & 0x7FFF0000).any():
        return Chip("DVS128", (128, 128), False)
    events = addresses[addresses & 0x80000400 == 0]
    width = int((events >> 12 & 0x3FF).max(initial=0)) + 1
    height = int((events >> 22 & 0x1FF).max(initial=0)) + 1
    for size in ((240, 180), (346, 260), (640, 480)):
        if width <= size[0] and height <= size[1]:
            return _davis(f"DAVIS{size[0]}", size, header)
    raise FormatError(f"no known chip has addresses up to {width}x{height}", offset=offset)


def _davis(name: str, size: tuple[int, int], header: bytes) -> Chip:
    accel, gyro = _ACCEL_SCALE.search(header), _GYRO_SCALE.search(header)
    return Chip(
        name,
        size,
        True,
        _ACCEL_LSB.get(int(accel[1]) if accel else 8, 4096.0),
        _GYRO_LSB.get(int(gyro[1]) if gyro else 1000, 32.8),
    )
