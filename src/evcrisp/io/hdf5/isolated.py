"""Read HDF5 files in another process, because damaged ones can crash or stop HDF5 and its filters."""

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from evcrisp.core.errors import FormatError
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.hdf5.worker_process import Iteration, Worker, WorkerError, take_worker
from evcrisp.io.protocol import Packet, Source, Stream

logger = logging.getLogger(__name__)


def matching_layouts(path: Path) -> tuple[str, ...]:
    """Return the names of the layouts that a file has; none if it is damaged."""
    facts = path.stat()
    return _matching(path.absolute(), facts.st_mtime_ns, facts.st_size, facts.st_ino)


@lru_cache(maxsize=1)  # detection asks once per layout
def _matching(path: Path, *version: int) -> tuple[str, ...]:
    worker = take_worker()
    try:
        return tuple(worker.ask("matching", path))
    except FormatError:
        return ()
    finally:
        worker.release()


@dataclass(slots=True, kw_only=True)
class IsolatedSource(Source):
    """An open file in another process."""

    worker: Worker
    number: int  # of the source in the other process
    steps: tuple[tuple[Any, ...], ...]  # requests that opened it
    listing: list[Stream] = field(default_factory=list)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order; after a crash, all before the damage."""
        n_events = 0
        try:
            for packet in self._elements("packets", self.number, None):
                n_events += packet.t.size
                yield packet
        except WorkerError:
            yield from self._packets_before_crash(n_events)
            raise

    def _packets_before_crash(self, n_before: int) -> Iterator[Packet]:
        """Yield more events in small packets, with a new process, until it crashes as well."""
        try:
            source = _opened(self.steps)
        except FormatError:
            return
        try:
            yield from source._elements("packets", source.number, n_before)
        except FormatError:
            return
        finally:
            source.close()

    def _elements(self, *request: Any) -> Iterator[Any]:
        """Yield what an iteration of the other process yields, some elements ahead."""
        iteration = Iteration(self.worker.ask(*request))
        try:
            element = self.worker.next(iteration)
            if element is not None:
                yield element  # the first one is often the only one
            while element is not None and (element := self.worker.next(iteration)) is not None:
                self.worker.read_ahead(iteration)
                yield element
        finally:
            with suppress(FormatError):
                self.worker.ask("stop", iteration.number)

    def imu(self) -> Imu | None:
        """Return all IMU samples."""
        return cast("Imu | None", self.worker.ask("imu", self.number))

    def triggers(self) -> Triggers | None:
        """Return all triggers."""
        return cast("Triggers | None", self.worker.ask("triggers", self.number))

    def frames(self) -> Iterator[Frame]:
        """Yield the frames one by one."""
        return self._elements("frames", self.number)

    def between(self, t_start: int, t_end: int | None) -> "IsolatedSource":
        """Return a source that skips events outside a span of time."""
        return self._derived("between", t_start, t_end)

    def choose(self, stream: str) -> "IsolatedSource":
        """Return the source of another camera."""
        return self._derived("choose", stream)

    def _derived(self, name: str, *arguments: Any) -> "IsolatedSource":
        return _next_source(self.worker, self.steps, (name, self.number, *arguments))

    def streams(self) -> list[Stream]:
        """Return the cameras."""
        return self.listing

    def close(self) -> None:
        """Close the file."""
        self.worker.release()


def open_isolated(layout: type, path: Path, packet_rows: int) -> IsolatedSource:
    """Open a file in another process with the reader of a layout."""
    source = _opened((("open", layout, path.absolute(), packet_rows),))
    if names := source.metadata.get("unsafe_filters"):
        logger.warning(
            "%s: compressed with %s, whose decoder does not notice damage: a damaged file gives other "
            "events at each read. Read it twice and compare, or save it with gzip or Blosc.",
            *(path, " and ".join(cast("list[str]", names))),
        )
    return source


def _opened(steps: tuple[tuple[Any, ...], ...]) -> IsolatedSource:
    worker = take_worker()
    try:
        source = _next_source(worker, (), steps[0])
        for step in steps[1:]:
            source = _next_source(worker, source.steps, step)
    except BaseException:
        worker.end()
        raise
    return source


def _next_source(
    worker: Worker, steps: tuple[tuple[Any, ...], ...], step: tuple[Any, ...]
) -> IsolatedSource:
    number, facts, listing, clock_offset = worker.ask(*step)
    return IsolatedSource(
        *facts,
        sensor_clock_offset=clock_offset,
        worker=worker,
        number=number,
        steps=(*steps, step),
        listing=listing,
    )
