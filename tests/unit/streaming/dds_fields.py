"""event_camera_msgs/EventPacket as the package cyclonedds encodes it, field by field."""

from dataclasses import dataclass

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import int32, sequence, uint8, uint32, uint64


@dataclass
@final
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    """builtin_interfaces/Time."""

    sec: int32
    nanosec: uint32


@dataclass
@final
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    """std_msgs/Header."""

    stamp: Time
    frame_id: str


@dataclass
@final
class EventPacketFields(IdlStruct, typename="event_camera_msgs::msg::dds_::EventPacket_"):
    """event_camera_msgs/EventPacket with its fields; slow, as DDS for Python encodes it."""

    header: Header
    height: uint32
    width: uint32
    seq: uint64
    time_base: uint64
    encoding: str
    is_bigendian: bool
    events: sequence[uint8]
