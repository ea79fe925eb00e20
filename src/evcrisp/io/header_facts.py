"""Facts that headers state, under one name for all formats: camera, serial number, date, clock."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

#: DV names a camera by model and serial number.
_DV_NAME = re.compile(r"(?:DAVIS|DVX|DVS)[^_]*_(.+)")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: Times from 2000 to 2100 are Unix times; cameras that count from their start do not get there, us.
_FIRST_UNIX_US, _LAST_UNIX_US = 946_684_800_000_000, 4_102_444_800_000_000


def utc_time(t_us: int) -> str | None:
    """Return a time as text if it is Unix time, else None.

    >>> utc_time(1_643_243_628_737_093), utc_time(3_167_000)
    ('2022-01-27T00:33:48.737093Z', None)
    """
    if not _FIRST_UNIX_US <= t_us < _LAST_UNIX_US:
        return None
    moment = _EPOCH + timedelta(microseconds=t_us)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def camera_name(metadata: Mapping[str, Any]) -> str:
    """Return the name of the camera as the file states it; empty if it does not.

    >>> camera_name({"source": "DAVIS346_00000391"}), camera_name({"chip": "DAVIS240C"})
    ('DAVIS346_00000391', 'DAVIS240C')
    """
    names = ("source", "chip", "device", "camera", "sensor_name", "plugin_name", "written_by")
    found = (metadata.get(name) for name in names)
    return next((name for name in found if isinstance(name, str) and name), "")


def serial_number(metadata: Mapping[str, Any]) -> str:
    """Return the serial number of the camera; empty if it is not stated.

    >>> serial_number({"source": "DVXplorer_DXB00010"}), serial_number({"serial_number": "30384338"})
    ('DXB00010', '30384338')
    """
    stated = metadata.get("serial_number")
    if stated:
        return str(stated)
    found = _DV_NAME.fullmatch(str(metadata.get("source") or ""))
    return "" if found is None else found[1]


def stream_lines(metadata: Mapping[str, Any]) -> list[str]:
    """Return a line per stream or topic: name, kind, and whether its events are read.

    >>> stream_lines({"topic": "/a", "topics": {"/a": "dvs_msgs/EventArray", "/b": "sensor_msgs/Imu"}})
    ['/a (dvs_msgs/EventArray), read', '/b (sensor_msgs/Imu)']
    """
    topics, streams = metadata.get("topics"), metadata.get("streams")
    if isinstance(topics, Mapping):
        used = (metadata.get("topic"), metadata.get("imu_topic"), metadata.get("frame_topic"))
        return [
            f"{name} ({kind}){', read' if name in used else ''}" for name, kind in topics.items()
        ]
    lines = []
    for stream in streams if isinstance(streams, list) else ():
        size = "" if not stream.get("resolution") else " {}x{} px".format(*stream["resolution"])
        is_other = stream.get("type") == "EVTS" and stream["id"] != metadata.get(
            "event_stream_read"
        )
        read = ", not read" if is_other else ""
        lines.append(f"{stream['id']}: {stream['name']} ({stream['type']}){size}{read}")
    return lines


def clock_text(metadata: Mapping[str, Any], t_first_us: int | None) -> str:
    """Return what the timestamps count from.

    >>> clock_text({}, 1_643_243_628_737_093)
    'Unix time; the first event is at 2022-01-27T00:33:48.737093Z'
    """
    moment = None if t_first_us is None else utc_time(t_first_us)
    if moment is not None:
        return f"Unix time; the first event is at {moment}"
    if metadata.get("clock") == "sensor":
        stamp = metadata.get("first_stamp_us")
        received = utc_time(stamp) if isinstance(stamp, int) else None
        return "clock of the sensor" + (
            "" if received is None else f"; first message at {received}"
        )
    return "" if t_first_us is None else "counts from a start that is not stated"


def header_facts(
    metadata: Mapping[str, Any], t_first_us: int | None, t_last_us: int | None
) -> dict[str, Any]:
    """Return the facts of a header as JSON types; None for those that it does not state."""
    times = (t_first_us, t_last_us)
    first, last = (None if t is None else utc_time(t) for t in times)
    return {
        "camera": camera_name(metadata) or None,
        "serial_number": serial_number(metadata) or None,
        "compression": metadata.get("compression"),
        "encoding": metadata.get("encoding"),
        "date": metadata.get("date"),
        "clock": clock_text(metadata, t_first_us) or None,
        "utc_first": first,
        "utc_last": last,
        "contents": stream_lines(metadata),
    }
