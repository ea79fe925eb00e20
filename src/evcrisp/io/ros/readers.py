"""Read ROS 1 bags, and ROS 2 bags: a folder or one of its files (``.mcap``, ``.db3``)."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.io.compression import ZSTD_MAGIC, allowed_size, unpack_zstd
from evcrisp.io.protocol import Reader
from evcrisp.io.ros import mcap, rosbag1
from evcrisp.io.ros.bag import Bag, Message, RosSource, Topic, open_bag, short_type

_SQLITE_MAGIC = b"SQLite format 3\x00"

#: With a damaged schema, an error message of SQLite can be invalid text.
_DAMAGE = (sqlite3.Error, UnicodeDecodeError)
#: Limits of SQLite have 32 bits.
_MAX_LIMIT = (1 << 31) - 1
#: Places of a bag of several files are those of a file, plus this times its number.
_PER_FILE = 1 << 56


class _SqliteFile:
    """A ``.db3`` file, the older container of ROS 2; every pass opens it again, read-only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = path.stat().st_size
        with closing(self._connect()) as connection:
            self._ids = self._read_topics(connection)
        self.topics = sorted(self._ids)

    def places(self, topic: str) -> list[int]:
        """Return the ids of the messages of a topic."""
        ids, marks = self._topic_ids(topic)
        query = f"SELECT id FROM messages WHERE topic_id IN ({marks}) ORDER BY id"
        with closing(self._connect()) as connection:
            try:
                return [int(number) for (number,) in connection.execute(query, ids)]
            except (*_DAMAGE, TypeError, ValueError):
                return []  # reading the messages reports it

    def _topic_ids(self, topic: str) -> tuple[list[int], str]:
        """Return the ids of a topic, and as many marks of a query."""
        ids = {i for kind, numbers in self._ids.items() if kind.name == topic for i in numbers}
        return sorted(ids), ",".join("?" * len(ids))

    def messages(self, topic: str, start: int | None = None) -> Iterator[Message]:
        before: int | None = None
        with closing(self._connect()) as connection:
            ids, marks = self._topic_ids(topic)
            later = "" if start is None else " AND id >= ?"
            query = f"SELECT id, data FROM messages WHERE topic_id IN ({marks}){later} ORDER BY id"
            try:
                for number, data in connection.execute(query, [*ids, *([start] if later else [])]):
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
            for table in ("topics", "messages"):
                _refuse_generated_columns(connection, table)
            query = "SELECT id, name, type, serialization_format FROM topics"
            for number, name, kind, wire in connection.execute(query):
                topic = Topic(str(name), short_type(str(kind)), str(wire))
                ids.setdefault(topic, []).append(number)
        except _DAMAGE as error:
            raise FormatError(f"the database is damaged: {error}") from error
        return ids


def _refuse_generated_columns(connection: sqlite3.Connection, table: str) -> None:
    """Raise if a column is computed when it is read, which can run forever."""
    for _, name, *_, hidden in connection.execute(f"PRAGMA table_xinfo({table})"):
        if hidden:
            raise FormatError(f"the database is not a ROS 2 bag; it computes {table}.{name!s:.30}")


_PATTERNS = ("*.db3", "*.mcap", "*.db3.zstd", "*.mcap.zstd")


class Ros1Reader(Reader):
    """Read ROS 1 bags, without ROS or other packages."""

    name = "ros1"
    title = "ROS 1 bag"
    suffixes = (".bag", ".bag.active")
    magic = (rosbag1.MAGIC,)
    foreign_errors = (OSError,)

    def open(self, path: Path) -> RosSource:
        """Open a bag and find its topics."""
        return open_bag(rosbag1.RosBag1(path))


class RosBag2:
    """The files of a ROS 2 bag, in order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = _files_of(path) if path.is_dir() else [path]
        topics: set[Topic] = set(_open_file(self._files[0]).topics)
        for file in self._files[1:]:
            try:
                topics.update(_open_file(file).topics)
            except FormatError:
                break  # reading the messages reports it, after the files before it
        self.topics = sorted(topics)

    def places(self, topic: str) -> list[int]:
        """Return the places of all files, each with the number of the file."""
        found: list[int] = []
        for number, file in enumerate(self._files):
            try:
                found += (
                    number * _PER_FILE + at
                    for at in _open_file(file, is_checked=True).places(topic)
                )
            except FormatError:
                break  # reading the messages reports it
        return found

    def messages(self, topic: str, start: int | None = None) -> Iterator[Message]:
        """Yield the messages of a topic, file after file, from a place on."""
        first, place = (0, None) if start is None else divmod(start, _PER_FILE)
        for number, path in enumerate(self._files[first:]):
            file = _open_file(path, is_checked=True)
            for message in file.messages(topic, place if number == 0 else None):
                if message.data[:4] == ZSTD_MAGIC:  # no CDR message starts like this
                    limit = allowed_size(len(message.data))
                    unpacked = unpack_zstd(message.data, limit)
                    if len(unpacked) > limit:
                        reason = f"a message expands to more than {counted(limit, 'byte')}"
                        raise FormatError(reason, offset=message.offset)
                    yield Message(unpacked, message.offset)
                else:
                    yield message


def _open_file(path: Path, *, is_checked: bool = False) -> Bag:
    if not path.is_file():
        raise FormatError(f"the bag lists the file {path.name}, which is missing")
    if path.name.endswith(".zstd"):
        raise FormatError(f"{path.name} is a compressed file; unpack it with `zstd -d` first")
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(mcap.MAGIC):
        return mcap.Mcap(path, is_checked=is_checked)
    if head.startswith(_SQLITE_MAGIC):
        return _SqliteFile(path)
    raise FormatError(f"{path.name} is neither MCAP nor SQLite")


def _files_of(folder: Path) -> list[Path]:
    """Return the files of a bag in the order of its metadata, or of their numbers."""
    names = _listed(folder / "metadata.yaml")
    if not names:
        found = [file.name for pattern in _PATTERNS for file in folder.glob(pattern)]
        names = sorted(found, key=lambda name: ([int(n) for n in re.findall(r"\d+", name)], name))
    if not names:
        raise FormatError("the folder has no .mcap or .db3 file")
    return [folder / name for name in names]


def _listed(metadata: Path) -> list[str]:
    """Return the file names under ``relative_file_paths`` (one per line, after a dash)."""
    if not metadata.is_file() or metadata.stat().st_size > 1 << 24:
        return []
    lines = iter(metadata.read_text("utf-8", "replace").splitlines())
    names = []
    for line in lines:
        if line.strip() == "relative_file_paths:":
            break
    for line in lines:
        item = re.fullmatch(r"\s*-\s+(['\"]?)(.+?)\1\s*", line)
        if item is None:
            break
        names.append(PurePosixPath(item[2]).name)
    return names


class Ros2Reader(Reader):
    """Read ROS 2 bags, without ROS; `zstandard` is needed for bags compressed with it."""

    name = "ros2"
    title = "ROS 2 bag"
    suffixes = (".mcap", ".db3")
    foreign_errors = (OSError,)

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for a magic number, or a folder with the files of a bag."""
        if path.is_dir():
            return any(True for pattern in _PATTERNS for _ in path.glob(pattern))
        if head.startswith(_SQLITE_MAGIC):
            return path.suffix == ".db3" or (b"topics" in head and b"messages" in head)
        return head.startswith(mcap.MAGIC)

    def open(self, path: Path) -> RosSource:
        """Open a bag and find its topics."""
        return open_bag(RosBag2(path))
