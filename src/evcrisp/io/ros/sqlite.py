"""Read the older container of ROS 2: an SQLite database with topics and messages."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from evcrisp.core.errors import FormatError
from evcrisp.io.ros.bag import Message, Topic, short_type

MAGIC = b"SQLite format 3\x00"

#: With a damaged schema, an error message of SQLite can be invalid text.
_DAMAGE = (sqlite3.Error, UnicodeDecodeError)
#: Limits of SQLite have 32 bits.
_MAX_LIMIT = (1 << 31) - 1


class RosDb:
    """A ``.db3`` file; every pass over its messages opens it again, read-only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = path.stat().st_size
        with closing(self._connect()) as connection:
            self._ids = self._read_topics(connection)
        self.topics = sorted(self._ids)

    def messages(self, topic: str) -> Iterator[Message]:
        """Yield the messages of a topic in the order of recording."""
        ids = {i for kind, numbers in self._ids.items() if kind.name == topic for i in numbers}
        before: int | None = None
        with closing(self._connect()) as connection:
            marks = ",".join("?" * len(ids))
            query = f"SELECT id, data FROM messages WHERE topic_id IN ({marks}) ORDER BY id"
            try:
                for number, data in connection.execute(query, sorted(ids)):
                    if not isinstance(data, bytes) or (before is not None and number <= before):
                        raise FormatError(f"the database is damaged after message id {before}")
                    before = number
                    yield Message(memoryview(data), 0)
            except _DAMAGE as error:
                reason = f"the database is damaged after message id {before}: {error}"
                raise FormatError(reason) from error

    def _connect(self) -> sqlite3.Connection:
        # `immutable` reads without locks, also from read-only folders, but ignores the log of
        # changes that a killed recorder leaves.
        log = self.path.with_name(self.path.name + "-wal")
        has_log = log.exists() and log.stat().st_size > 0
        uri = self.path.resolve().as_uri() + ("?mode=ro" if has_log else "?mode=ro&immutable=1")
        try:
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            n_most = min(max(self._size, 1 << 20), _MAX_LIMIT)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, n_most)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
        except _DAMAGE as error:
            raise FormatError(f"opening the database failed: {error}") from error
        return connection

    def _read_topics(self, connection: sqlite3.Connection) -> dict[Topic, list[int]]:
        """Return the topics with their ids; views are not read, because they can run forever."""
        ids: dict[Topic, list[int]] = {}
        try:
            query = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
            tables = {name for (name,) in connection.execute(query)}
            if not {"topics", "messages"} <= tables:
                raise FormatError("the database is not a ROS 2 bag; it has no topics or messages")
            query = "SELECT id, name, type, serialization_format FROM topics"
            for number, name, kind, wire in connection.execute(query):
                topic = Topic(str(name), short_type(str(kind)), str(wire))
                ids.setdefault(topic, []).append(number)
        except _DAMAGE as error:
            raise FormatError(f"the database is damaged: {error}") from error
        return ids
