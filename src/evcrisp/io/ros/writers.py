"""Write ROS bags: ROS 1 (``.bag``), ROS 2 (a folder, ``.mcap`` or ``.db3``)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.io.atomic_output import BAG_STEM
from evcrisp.io.compression import Codec, Lz4Frame, Stored, Zstd
from evcrisp.io.prophesee.evt import MAX_SIZE
from evcrisp.io.prophesee.evt_header import check_size
from evcrisp.io.protocol import Writer
from evcrisp.io.ros.mcap_writer import McapFile
from evcrisp.io.ros.metadata import write_metadata
from evcrisp.io.ros.rosbag1_writer import RosBag1File
from evcrisp.io.ros.sensor_messages import BagKind
from evcrisp.io.ros.sink import RosSink
from evcrisp.io.ros.sqlite_writer import SqliteFile

#: Seconds of time stamps have 32 bits, in ROS 2 with a sign.
_ROS1 = BagKind(title="ROS 1 bag", cdr=False, max_time=(1 << 32) * 1_000_000)
_ROS2 = BagKind(title="ROS 2 bag", cdr=True, max_time=(1 << 31) * 1_000_000)

#: Names in the container, and codecs, by option.
_MCAP_CODECS: dict[str, tuple[str, Callable[[], Codec]]] = {
    "none": ("", Stored),
    "lz4": ("lz4", Lz4Frame),
    "zstd": ("zstd", Zstd),
}
_ROS1_CODECS: dict[str, tuple[str, Callable[[], Codec]]] = {
    "none": ("none", Stored),
    "lz4": ("lz4", Lz4Frame),
}


class _RosWriter(Writer):
    """Base of the writers."""

    keeps = ("imu", "triggers", "frames", "stamp_offset")
    data_first = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ros1Writer(_RosWriter):
    """Write ROS 1 bags.

    Parameters
    ----------
    compression : {"none", "lz4"}
        Compression of chunks.
    """

    name = "ros1"
    title = _ROS1.title
    suffixes = (".bag",)

    compression: str = "none"

    def __post_init__(self) -> None:
        lookup(_ROS1_CODECS, self.compression, "compression")

    def open(self, path: Path, resolution: tuple[int, int]) -> RosSink:
        """Start a bag."""
        check_size(self.title, resolution, MAX_SIZE)
        kind, codec = lookup(_ROS1_CODECS, self.compression, "compression")
        return RosSink(RosBag1File(path, kind, codec()), resolution, _ROS1)


class _FolderSink(RosSink):
    """A bag with a folder, which also has a description."""

    storage: str
    file: Path

    def finish(self) -> None:
        """Complete the container, and write the description."""
        super().finish()
        path = self.file.with_name("metadata.yaml")
        write_metadata(path, self.storage, self.file.name, self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ros2Writer(_RosWriter):
    """Write ROS 2 bags: one file if the name ends with .mcap or .db3, else a folder.

    Parameters
    ----------
    storage : {"mcap", "sqlite3"}
        Container in a folder.
    compression : {"none", "lz4", "zstd"}
        Compression of the chunks of MCAP.
    """

    name = "ros2"
    title = _ROS2.title
    suffixes = (".mcap", ".db3")

    storage: str = "mcap"
    compression: str = "none"

    def __post_init__(self) -> None:
        lookup({"mcap": 0, "sqlite3": 0}, self.storage, "storage")
        lookup(_MCAP_CODECS, self.compression, "compression")

    def open(self, path: Path, resolution: tuple[int, int]) -> RosSink:
        """Start a bag."""
        check_size(self.title, resolution, MAX_SIZE)
        suffix = path.suffix.lower()
        if suffix in self.suffixes:
            storage = "mcap" if suffix == ".mcap" else "sqlite3"
            return RosSink(self._container(path, storage), resolution, _ROS2)
        path.mkdir()
        file = path / (BAG_STEM + (".mcap" if self.storage == "mcap" else ".db3"))
        sink = _FolderSink(self._container(file, self.storage), resolution, _ROS2)
        sink.storage, sink.file = self.storage, file
        return sink

    def _container(self, path: Path, storage: str) -> McapFile | SqliteFile:
        kind, codec = lookup(_MCAP_CODECS, self.compression, "compression")
        if storage == "mcap":
            return McapFile(path, kind, codec())
        if self.compression != "none":
            problem = "is possible with the storage mcap only"
            raise ConfigError(problem, parameter="compression", value=self.compression)
        return SqliteFile(path)
