"""Type of event_camera_msgs/EventPacket in DDS; its bytes are those of the own encoder."""

from dataclasses import dataclass
from typing import Any

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


@final
class EventPacket(IdlStruct, typename="event_camera_msgs::msg::dds_::EventPacket_"):
    """event_camera_msgs/EventPacket: its fields for other nodes, and the serialized message.

    The package cyclonedds encodes field by field, byte by byte; messages are encoded already.
    """

    header: Header
    height: uint32
    width: uint32
    seq: uint64
    time_base: uint64
    encoding: str
    is_bigendian: bool
    events: sequence[uint8]  # ty: ignore[invalid-type-form]

    def __init__(self, data: bytes) -> None:
        self.data = data

    def serialize(self, *args: Any, **options: Any) -> bytes:
        """Return the bytes of the message."""
        return self.data

    @classmethod
    def deserialize(cls, data: bytes, *args: Any, **options: Any) -> "EventPacket":
        """Keep the bytes of the message."""
        return cls(bytes(data))
