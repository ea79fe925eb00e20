"""Write the SQLite container of ROS 2, ``.db3``."""

import errno
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evcrisp.io.ros.container import OutputTopic

#: Tables of rosbag2, version 4; older programs ignore the table and the column that are new in it.
_SCHEMA = """
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(
    id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
    serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,
    type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(
    id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL,
    encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);
CREATE TABLE messages(
    id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
    data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
INSERT INTO schema VALUES (4, 'humble');
"""


@contextmanager
def _os_errors(path: Path) -> Generator[None, None, None]:
    """Convert errors of SQLite to errors of the file, such as that of a full disk."""
    try:
        yield
    except sqlite3.Error as error:
        code = errno.ENOSPC if error.sqlite_errorcode == sqlite3.SQLITE_FULL else errno.EIO
        raise OSError(code, os.strerror(code), str(path)) from error


class SqliteFile:
    """A ``.db3`` file for messages in CDR. It has a temporary name, so it needs no journal."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._topics: dict[OutputTopic, int] = {}
        with _os_errors(path):
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            with _os_errors(path):
                self._connection.execute("PRAGMA journal_mode = OFF")
                self._connection.execute("PRAGMA synchronous = OFF")
                self._connection.executescript(f"BEGIN; {_SCHEMA}")
        except BaseException:
            self._connection.close()
            raise

    def write(self, topic: OutputTopic, t: int, data: bytes) -> None:
        """Append a message; ``t`` in ns."""
        with _os_errors(self._path):
            if topic not in self._topics:
                self._add_topic(topic)
            row = (self._topics[topic], t, data)
            insert = "INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)"
            self._connection.execute(insert, row)

    def finish(self) -> None:
        """Commit the messages and close the file."""
        with _os_errors(self._path):
            self._connection.execute("COMMIT")
            self._connection.close()

    def abort(self) -> None:
        """Close the file."""
        self._connection.close()

    def _add_topic(self, topic: OutputTopic) -> None:
        number = self._topics[topic] = len(self._topics) + 1
        name, digest = topic.type.ros2_name, topic.type.type_hash
        row = (number, topic.name, name, "cdr", "", digest)
        self._connection.execute("INSERT INTO topics VALUES (?, ?, ?, ?, ?, ?)", row)
        text = topic.type.definition(is_ros2=True)
        row = (number, name, "ros2msg", text, digest)
        self._connection.execute("INSERT INTO message_definitions VALUES (?, ?, ?, ?, ?)", row)
