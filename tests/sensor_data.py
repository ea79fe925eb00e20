"""Sensor data for outputs of tests."""

from collections.abc import Iterator
from dataclasses import dataclass

from evcrisp.core.sensor_data import Frame, Imu, Triggers


@dataclass(frozen=True)
class GivenData:
    """Object with the methods of a recording that return sensor data."""

    samples: Imu | None = None
    edges: Triggers | None = None
    images: tuple[Frame, ...] = ()

    def imu(self) -> Imu | None:
        return self.samples

    def triggers(self) -> Triggers | None:
        return self.edges

    def frames(self) -> Iterator[Frame]:
        return iter(self.images)
