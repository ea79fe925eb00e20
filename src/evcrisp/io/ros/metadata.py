"""Write ``metadata.yaml``, which describes the folder of a ROS 2 bag."""

from pathlib import Path

from evcrisp.io.ros.container import MessageCounts, OutputTopic

#: Version of the layout; ROS 2 Humble and later read it.
_VERSION = 5


def write_metadata(path: Path, storage: str, file_name: str, counts: MessageCounts) -> None:
    """Write the description of a bag with one file."""
    first, last = counts.span
    topics = [line for item in counts.by_topic.items() for line in _topic_lines(*item)]
    lines = [
        "rosbag2_bagfile_information:",
        f"  version: {_VERSION}",
        f"  storage_identifier: {storage}",
        *_span_lines("  ", first, last),
        f"  message_count: {counts.n_messages}",
        "  topics_with_message_count:",
        *topics,
        '  compression_format: ""',
        '  compression_mode: ""',
        "  relative_file_paths:",
        f"    - {file_name}",
        "  files:",
        f"    - path: {file_name}",
        *_span_lines("      ", first, last),
        f"      message_count: {counts.n_messages}",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _span_lines(indent: str, first: int, last: int) -> list[str]:
    return [
        f"{indent}duration:",
        f"{indent}  nanoseconds: {last - first}",
        f"{indent}starting_time:",
        f"{indent}  nanoseconds_since_epoch: {first}",
    ]


def _topic_lines(topic: OutputTopic, n_messages: int) -> list[str]:
    return [
        "    - topic_metadata:",
        f"        name: {topic.name}",
        f"        type: {topic.type.ros2_name}",
        "        serialization_format: cdr",
        '        offered_qos_profiles: ""',
        f"      message_count: {n_messages}",
    ]
