"""Definitions of the ROS messages that are written, with their digests."""

from dataclasses import dataclass

_EVENT_PACKET = """\
std_msgs/Header header
uint32 height
uint32 width
uint64 seq
uint64 time_base
string encoding
bool is_bigendian
uint8[] events
"""
_IMU = """\
std_msgs/Header header
geometry_msgs/Quaternion orientation
float64[9] orientation_covariance
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance
"""
_IMAGE = """\
std_msgs/Header header
uint32 height
uint32 width
string encoding
uint8 is_bigendian
uint32 step
uint8[] data
"""
#: Types of fields, of ROS 1 and of ROS 2.
_ROS1_PARTS = {"std_msgs/Header": "uint32 seq\ntime stamp\nstring frame_id\n"}
_ROS2_PARTS = {
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec\n",
}
_COMMON_PARTS = {
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z\n",
}


@dataclass(frozen=True, slots=True)
class MessageType:
    """A message type: its name, its fields, and its digests in ROS 1 and ROS 2."""

    package: str
    short_name: str
    fields: str
    md5: str  # ROS 1
    type_hash: str  # ROS 2, RIHS01

    @property
    def ros1_name(self) -> str:
        """The name in ROS 1, such as sensor_msgs/Imu."""
        return f"{self.package}/{self.short_name}"

    @property
    def ros2_name(self) -> str:
        """The name in ROS 2, such as sensor_msgs/msg/Imu."""
        return f"{self.package}/msg/{self.short_name}"

    def definition(self, *, is_ros2: bool) -> str:
        """Return the fields, followed by the definitions of their types."""
        known = {**(_ROS2_PARTS if is_ros2 else _ROS1_PARTS), **_COMMON_PARTS}
        text, seen = self.fields, ["std_msgs/Header"]
        for part, fields in known.items():
            if part in self.fields or any(part in known[name] for name in seen):
                seen.append(part)
                text += f"{'=' * 80}\nMSG: {part}\n{fields}"
        return text


EVENT_PACKET = MessageType(
    "event_camera_msgs",
    "EventPacket",
    _EVENT_PACKET,
    "8a6101b351a64529ac77bd8b71074e52",
    "RIHS01_d6fa176260b1f37e5a40845305315e150a0f18191241eb64f407442aa29844aa",
)
IMU = MessageType(
    "sensor_msgs",
    "Imu",
    _IMU,
    "6a62c6daae103f4ff57a132d6f95cec2",
    "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b",
)
IMAGE = MessageType(
    "sensor_msgs",
    "Image",
    _IMAGE,
    "060021388200f6f0f447d0fcd9c64743",
    "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47",
)
