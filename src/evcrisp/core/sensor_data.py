"""Sensor data beside the events: IMU samples, triggers, frames."""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

STANDARD_GRAVITY_M_S2 = 9.80665


class TriggerKind(IntEnum):
    """Kind of a trigger; the codes are those of AEDAT4."""

    TIMESTAMP_RESET = 0
    RISING_EDGE = 1
    FALLING_EDGE = 2
    PULSE = 3
    GENERATOR_RISING_EDGE = 4
    GENERATOR_FALLING_EDGE = 5
    FRAME_START = 6
    FRAME_END = 7
    EXPOSURE_START = 8
    EXPOSURE_END = 9


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Imu:
    """Samples of the inertial measurement unit, in the order and the axes of the file.

    >>> Imu(t=np.array([0, 1000]), gyro_rad_s=np.zeros((2, 3)), accel_m_s2=np.zeros((2, 3)))
    Imu(n=2, t=0..1000 us)
    """

    t: NDArray[np.int64]  # (n,) us
    gyro_rad_s: NDArray[np.float64]  # (n, 3)
    accel_m_s2: NDArray[np.float64]  # (n, 3)
    temperature_c: NDArray[np.float64] | None = None  # (n,)
    magnetic_ut: NDArray[np.float64] | None = None  # (n, 3)

    def __len__(self) -> int:
        return self.t.size

    def __repr__(self) -> str:
        return _short_repr(self)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Triggers:
    """External signals and marks of the camera, in the order of the file."""

    t: NDArray[np.int64]  # (n,) us
    kind: NDArray[np.uint8]  # (n,) TriggerKind
    channel: NDArray[np.uint8]  # (n,)

    def __len__(self) -> int:
        return self.t.size

    def __repr__(self) -> str:
        return _short_repr(self)


def _short_repr(samples: Imu | Triggers) -> str:
    span = f", t={samples.t[0]}..{samples.t[-1]} us" if len(samples) else ""
    return f"{type(samples).__name__}(n={len(samples)}{span})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Frame:
    """One image of a frame sensor with the same pixels."""

    t: int  # us
    image: NDArray[np.generic]  # (h, w) gray or (h, w, 3) blue, green, red
    exposure_start: int | None = None  # us
    exposure_end: int | None = None  # us
    position: tuple[int, int] = (0, 0)  # (x, y) of the upper left pixel, px

    def __repr__(self) -> str:
        height, width = self.image.shape[:2]
        return f"Frame(t={self.t} us, {width}x{height} {self.image.dtype})"


_Data = TypeVar("_Data", bound=Imu | Triggers | Frame)


def shifted(data: _Data, offset_us: int) -> _Data:
    """Return sensor data with other times.

    >>> shifted(Frame(t=5, image=np.zeros((1, 1), np.uint8), exposure_start=3), 100).exposure_start
    103
    """
    if not offset_us:
        return data
    names = ("t", "exposure_start", "exposure_end") if isinstance(data, Frame) else ("t",)
    times = {name: getattr(data, name) for name in names}
    return replace(data, **{n: t + offset_us for n, t in times.items() if t is not None})
