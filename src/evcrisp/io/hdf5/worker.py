"""Process that reads HDF5 files for `isolated`; a crash or an endless loop ends only this process.

Requests come from standard input, replies go to standard output. A reply is ("value", value) or
("error", exception). The process ends with its standard input.
"""

import os
import pickle
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import DTypeLike, NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.hdf5 import datasets, ecf, reader
from evcrisp.io.hdf5.messages import SharedPart, receive, send
from evcrisp.io.hdf5.slots import map_slots
from evcrisp.io.protocol import Source

#: Processor time of one request, s: a constant part, and a part for the chunks it decompresses.
_CPU_SECONDS, _BYTES_PER_CPU_SECOND = 1.0, 20e6
#: Address space of this process, bytes.
_MEMORY_BYTES = 8 << 30
#: Rows per packet while searching for the last rows before a crash.
_CAREFUL_ROWS = 1 << 12


class _Server:
    """Sources and iterations of one file, by number."""

    def __init__(self) -> None:
        self._sources: list[datasets.TableSource] = []
        self._iterations: dict[int, Iterator[Any]] = {}
        self._n_iterations = 0
        self.memory = SharedPart()  # for the reply to the current request

    def matching(self, path: Path) -> list[str]:
        """Return the names of the layouts of a file."""
        trusted = (layout(trusted=True) for layout in reader.LAYOUTS)
        return [layout.name for layout in trusted if layout.matches_file(path)]

    def open(
        self, layout: type[datasets.Hdf5Layout], path: Path, packet_rows: int
    ) -> tuple[Any, ...]:
        """Open a file; return the facts of its source."""
        source = layout(trusted=True).open_here(path)
        source.packet_rows, source.empty = packet_rows, self._empty
        return self._added(source)

    def between(self, number: int, t_start: int, t_end: int | None) -> tuple[Any, ...]:
        """Make the source of a span of time; return its facts."""
        return self._added(self._sources[number].between(t_start, t_end))

    def choose(self, number: int, stream: str) -> tuple[Any, ...]:
        """Make the source of another camera; return its facts."""
        source = self._sources[number]
        chosen = source.choose(stream)
        return self._added(replace(chosen, packet_rows=source.packet_rows, empty=self._empty))

    def imu(self, number: int) -> Any:
        """Return the IMU samples of a source."""
        return self._sources[number].imu()

    def triggers(self, number: int) -> Any:
        """Return the triggers of a source."""
        return self._sources[number].triggers()

    def packets(self, number: int, skip: int | None) -> int:
        """Start to read events, after the first ``skip`` in small packets; return a number."""
        source = self._sources[number]
        if skip is not None:
            source = replace(source, skip=skip, packet_rows=_CAREFUL_ROWS)
        return self._started(source.packets())

    def frames(self, number: int) -> int:
        """Start to read frames; return a number."""
        return self._started(self._sources[number].frames())

    def next(self, number: int) -> Any:
        """Return the next element of an iteration, or None at its end."""
        return next(self._iterations[number], None)

    def stop(self, number: int) -> None:
        """End an iteration."""
        self._iterations.pop(number, None)

    def close(self) -> None:
        """Close the file."""
        self._iterations.clear()
        for source in self._sources:
            source.close()
        self._sources.clear()

    def cpu_seconds(self) -> float:
        """Return the limit of processor time for a request."""
        n_bytes = sum(rows.step_bytes() for source in self._sources for rows in source.all_rows())
        return _CPU_SECONDS + n_bytes / _BYTES_PER_CPU_SECOND

    def _empty(self, n: int, dtype: DTypeLike) -> NDArray[Any]:
        return self.memory.empty(n, dtype)

    def _started(self, iteration: Iterator[Any]) -> int:
        self._n_iterations += 1
        self._iterations[self._n_iterations] = iteration
        return self._n_iterations

    def _added(self, source: Source) -> tuple[Any, ...]:
        assert isinstance(source, datasets.TableSource)
        if any(isinstance(rows, ecf.EcfRows) for rows in source.all_rows()):
            with _cpu_limit(0):
                ecf.compile_decoder()  # takes longer than the limit
        self._sources.append(source)
        metadata = dict(source.metadata)
        chunks = [rows.chunks for rows in source.all_rows() if rows.chunks is not None]
        names = {name for stored in chunks for name in stored.unsafe_filters()}
        if names:
            metadata["unsafe_filters"] = sorted(names)
        facts = (source.resolution, metadata, source.n_events)
        return len(self._sources) - 1, facts, source.streams(), source.sensor_clock_offset


class _cpu_limit:  # noqa: N801 - used like a function
    """End the process if a block needs more processor time, also inside a library; 0: no limit.

    Processor time, because slow disks and busy computers do not count as damage.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._before = 0.0

    def __enter__(self) -> None:
        if hasattr(signal, "setitimer"):
            self._before = signal.setitimer(signal.ITIMER_PROF, self._seconds)[0]

    def __exit__(self, *exception: object) -> None:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, self._before)


def serve(requests: BinaryIO, replies: BinaryIO, slots: list[memoryview]) -> None:
    """Answer requests until their end; each names the shared memory for its reply."""
    server = _Server()
    while True:
        try:
            slot, name, *arguments = receive(requests)
        except EOFError:
            return
        server.memory = SharedPart(slots[slot])
        send(replies, _reply(server, name, arguments), server.memory)


def _reply(server: _Server, name: str, arguments: list[Any]) -> tuple[str, Any]:
    try:
        with _cpu_limit(server.cpu_seconds()):
            return "value", getattr(server, name)(*arguments)
    except MemoryError:
        return "error", FormatError(f"reading needs more than {_MEMORY_BYTES >> 30} GiB of memory")
    except Exception as error:
        return "error", _portable(error)


def _portable(error: Exception) -> Exception:
    """Return an exception that can be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):  # not on Windows
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(_MEMORY_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(descriptor: int | None) -> None:
    """Serve the process that started this one, with its shared memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process ends this one
    _limit_memory()
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # filters print to standard output
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, replies, map_slots(descriptor))
    os._exit(0)  # damaged files can crash the end of the library
