"""ROS 1 bags: dvs_msgs, prophesee_event_msgs and event_camera_msgs; IMU and images beside them."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from evcrisp.io.ros.bag import RosSource, open_bag
from evcrisp.io.ros.rosbag1 import MAGIC, RosBag1
from evcrisp.io.standard_sizes import ALL_SIZES


@dataclass(frozen=True, slots=True)
class Ros1Reader:
    """Read ROS 1 bags; needs neither ROS nor another package."""

    name: ClassVar[str] = "ros1"
    title: ClassVar[str] = "ROS 1 bag"
    suffixes: ClassVar[tuple[str, ...]] = (".bag", ".bag.active")
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ALL_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = (OSError,)

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the first line."""
        return head.startswith(MAGIC)

    def open(self, path: Path) -> RosSource:
        """Open a bag and find its topics."""
        return open_bag(RosBag1(path))
