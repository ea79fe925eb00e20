"""Read ROS 1 bags, and ROS 2 bags: a folder or one of its files (``.mcap``, ``.db3``)."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from evcrisp.core.errors import FormatError
from evcrisp.io.protocol import Reader
from evcrisp.io.ros import mcap, rosbag1, sqlite
from evcrisp.io.ros.bag import Bag, Message, RosSource, Topic, open_bag
from evcrisp.io.ros.unpack import ZSTD_MAGIC, unpack_zstd

_METADATA = "metadata.yaml"
_PATTERNS = ("*.db3", "*.mcap", "*.db3.zstd", "*.mcap.zstd")
_METADATA_BYTES = 1 << 24


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

    def messages(self, topic: str) -> Iterator[Message]:
        """Yield the messages of a topic, file after file."""
        for file in self._files:
            for message in _open_file(file).messages(topic):
                if message.data[:4] == ZSTD_MAGIC:  # no CDR message starts like this
                    yield Message(unpack_zstd(message.data), message.offset)
                else:
                    yield message


def _open_file(path: Path) -> Bag:
    if not path.is_file():
        raise FormatError(f"the bag lists the file {path.name}, which is missing")
    if path.name.endswith(".zstd"):
        raise FormatError(f"{path.name} is a compressed file; unpack it with `zstd -d` first")
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(mcap.MAGIC):
        return mcap.Mcap(path)
    if head.startswith(sqlite.MAGIC):
        return sqlite.RosDb(path)
    raise FormatError(f"{path.name} is neither MCAP nor SQLite")


def _files_of(folder: Path) -> list[Path]:
    """Return the files of a bag in the order of its metadata, or of their numbers."""
    names = _listed(folder / _METADATA)
    if not names:
        found = [file.name for pattern in _PATTERNS for file in folder.glob(pattern)]
        names = sorted(found, key=lambda name: ([int(n) for n in re.findall(r"\d+", name)], name))
    if not names:
        raise FormatError("the folder has no .mcap or .db3 file")
    return [folder / name for name in names]


def _listed(metadata: Path) -> list[str]:
    """Return the file names under ``relative_file_paths`` (one per line, after a dash)."""
    if not metadata.is_file() or metadata.stat().st_size > _METADATA_BYTES:
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
        if head.startswith(sqlite.MAGIC):
            return path.suffix == ".db3" or (b"topics" in head and b"messages" in head)
        return head.startswith(mcap.MAGIC)

    def open(self, path: Path) -> RosSource:
        """Open a bag and find its topics."""
        return open_bag(RosBag2(path))
