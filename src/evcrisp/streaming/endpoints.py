"""Make sources and sinks from the texts that users give."""

from collections.abc import Sequence
from contextlib import ExitStack
from os import PathLike, fspath
from pathlib import Path

from evcrisp.io.reading import open_recording
from evcrisp.io.recording import Recording
from evcrisp.streaming.addresses import Address, is_address
from evcrisp.streaming.protocol import LiveSink, LiveSource
from evcrisp.streaming.sinks.file import FileSink
from evcrisp.streaming.sinks.server import ServerSink
from evcrisp.streaming.sinks.stdout import StdoutSink
from evcrisp.streaming.sinks.udp import UdpSink
from evcrisp.streaming.sources.playback import Playback
from evcrisp.streaming.sources.socket import SocketSource
from evcrisp.streaming.sources.stdin import StdinSource
from evcrisp.streaming.sources.udp import UdpSource

Source = str | PathLike[str] | Recording | LiveSource
Sink = str | PathLike[str] | LiveSink

#: Standard input or output.
PIPE = "-"
#: End of the address of a server that also sends sensor data.
SENSORS = "?sensors"
#: Starts of addresses whose packages are loaded when they are used: ROS 2 messages, USB cameras.
ZENOH, DDS, USB = "zenoh://", "dds://", "usb://"


def make_source(
    source: Source,
    stack: ExitStack,
    *,
    speed: float | str = 1.0,
    resolution: tuple[int, int] | None = None,
    reconnect: bool = False,
    bind: str | None = None,
) -> LiveSource:
    """Return a source: a file, an address, "-" for standard input, or an own object."""
    if isinstance(source, Recording):
        return Playback(source, speed)
    if not isinstance(source, (str, PathLike)):
        return source
    text = fspath(source)
    if text == PIPE:
        return StdinSource(resolution)
    if not is_address(text):
        recording = stack.enter_context(open_recording(text, resolution=resolution))
        return Playback(recording, speed)
    if text.startswith(ZENOH):
        from evcrisp.streaming.ros.zenoh import ZenohSource

        return ZenohSource(text, resolution=resolution, reconnect=reconnect, bind=bind)
    if text.startswith(USB):
        from evcrisp.streaming.sources.usb import open_camera

        return open_camera(text)
    if text.startswith(DDS):
        from evcrisp.streaming.ros.dds import DdsSource

        return DdsSource(text, resolution=resolution, bind=bind)
    address = Address.parse(text)
    if address.scheme == "udp":
        return UdpSource(address, resolution, bind=bind)
    return SocketSource(address, resolution=resolution, reconnect=reconnect)


def make_sinks(
    sinks: Sequence[Sink],
    source: Source,
    *,
    bind: str | None = None,
    overwrite: bool = False,
    stdout_format: str = "aedat4",
) -> list[LiveSink]:
    """Return the sinks; if one cannot be made, those before it are removed."""
    made: list[LiveSink] = []
    try:
        for sink in sinks:
            made.append(_make_sink(sink, source, bind, overwrite, stdout_format))
    except BaseException:
        for sink in made:
            sink.close(is_complete=False)
        raise
    return made


def _make_sink(
    sink: Sink, source: Source, bind: str | None, overwrite: bool, stdout_format: str
) -> LiveSink:
    if not isinstance(sink, (str, PathLike)):
        return sink
    text = fspath(sink)
    if text == PIPE:
        return StdoutSink(stdout_format)
    if not is_address(text):
        return FileSink(Path(text), overwrite=overwrite, source=_path_of(source))
    if text.startswith(ZENOH):
        from evcrisp.streaming.ros.zenoh import ZenohSink

        return ZenohSink(text, bind=bind)
    if text.startswith(DDS):
        from evcrisp.streaming.ros.dds import DdsSink

        return DdsSink(text, bind=bind)
    address = Address.parse(text.removesuffix(SENSORS))
    if address.scheme == "udp":
        return UdpSink(address)
    return ServerSink(address, bind=bind, with_sensor_data=text.endswith(SENSORS))


def _path_of(source: Source) -> Path | None:
    """Return the file of a source, which no sink may replace."""
    if isinstance(source, Recording):
        return source.path
    is_text = isinstance(source, (str, PathLike))
    if not is_text or fspath(source) == PIPE or is_address(fspath(source)):
        return None
    return Path(source)
