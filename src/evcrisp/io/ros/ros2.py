"""ROS 2 bags: a folder, or one of its files (``.mcap`` or ``.db3``)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from evcrisp.core.errors import FormatError
from evcrisp.io.ros import mcap as _mcap
from evcrisp.io.ros import sqlite as _rosdb
from evcrisp.io.ros.bag import Bag, Message, RosSource, Topic, open_bag
from evcrisp.io.ros.unpack import ZSTD_MAGIC, unpack_zstd
from evcrisp.io.standard_sizes import ALL_SIZES

_METADATA = "metadata.yaml"
_PATTERNS = ("*.db3", "*.mcap", "*.db3.zstd", "*.mcap.zstd")
_METADATA_BYTES = 1 << 24


class RosBag2:
    """The files of a bag, one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = _files_of(path) if path.is_dir() else [path]
        topics: set[Topic] = set(_open_file(self._files[0]).topics)
        for file in self._files[1:]:
            try:
                topics.update(_open_file(file).topics)
            except FormatError:
                break  # the reading of messages meets it again, after the files before it
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
        raise FormatError(f"{path.name} is compressed as a whole; unpack it with `zstd -d` first")
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(_mcap.MAGIC):
        return _mcap.Mcap(path)
    if head.startswith(_rosdb.MAGIC):
        return _rosdb.RosDb(path)
    raise FormatError(f"{path.name} is neither MCAP nor SQLite")


def _files_of(folder: Path) -> list[Path]:
    """Return the files of a bag in the order of its list, or of their numbers."""
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


@dataclass(frozen=True, slots=True)
class Ros2Reader:
    """Read ROS 2 bags; needs no ROS, and `zstandard` only for bags that are packed with it."""

    name: ClassVar[str] = "ros2"
    title: ClassVar[str] = "ROS 2 bag"
    suffixes: ClassVar[tuple[str, ...]] = (".mcap", ".db3")
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ALL_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = (OSError,)

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for a magic number, or for a folder with the files of a bag."""
        if path.is_dir():
            return any(True for pattern in _PATTERNS for _ in path.glob(pattern))
        if head.startswith(_rosdb.MAGIC):
            return path.suffix == ".db3" or (b"topics" in head and b"messages" in head)
        return head.startswith(_mcap.MAGIC)

    def open(self, path: Path) -> RosSource:
        """Open a bag and find its topics."""
        return open_bag(RosBag2(path))
