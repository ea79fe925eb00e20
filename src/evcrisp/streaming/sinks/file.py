"""Write cleaned events to a file of any format; it appears when it is complete."""

from contextlib import ExitStack, suppress
from pathlib import Path

from evcrisp.core.events import Events
from evcrisp.io.atomic_output import naming, refuse_inputs, replacing
from evcrisp.io.writing import ChunkWriter, writer_for
from evcrisp.streaming.protocol import LiveSink
from evcrisp.streaming.sensor_data import SensorData


class _IncompleteError(Exception):
    """Makes the context managers of a file remove it."""


class FileSink(LiveSink):
    """A file as a sink; ``source`` is a file that it must not replace."""

    def __init__(self, path: Path, *, overwrite: bool = False, source: Path | None = None) -> None:
        self.name, self._path = str(path), path
        self._writer = writer_for(path)
        is_fit = getattr(self._writer, "interleaves", False)
        self.keeps: tuple[str, ...] = getattr(self._writer, "keeps", ()) if is_fit else ()
        refuse_inputs(path, source)
        self._resolution: tuple[int, int] | None = None
        self._stack = ExitStack()
        temporary = self._stack.enter_context(replacing(path, overwrite=overwrite))
        self._output = ChunkWriter(temporary, self._writer)
        self._stack.enter_context(self._output)

    def expect(self, kinds: tuple[str, ...]) -> None:
        """Do nothing: the file declares what it has at the end."""

    def open(self, resolution: tuple[int, int]) -> None:
        """Keep the sensor size, for a file without events; the first events start the file."""
        self._resolution = resolution

    def write(self, events: Events) -> None:
        """Append events."""
        with naming(self._path):
            self._output.write(events)

    def write_sensor_data(self, data: SensorData) -> None:
        """Append sensor data among the events."""
        with naming(self._path):
            if not self._output.is_open and self._resolution is not None:
                self._output.write(Events.empty(self._resolution))
            self._output.write_sensor_data(data)

    def close(self, *, is_complete: bool) -> None:
        """Finish the file and give it its name, or remove it."""
        if is_complete and self._resolution is not None:
            if not self._output.is_open:
                self._output.write(Events.empty(self._resolution))
            self._stack.close()
            return
        error = _IncompleteError()
        with suppress(_IncompleteError):
            self._stack.__exit__(_IncompleteError, error, None)
