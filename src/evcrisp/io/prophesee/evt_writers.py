"""Write Prophesee RAW files: EVT 3.0 and EVT 2.0, with triggers among the events."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Triggers
from evcrisp.io.prophesee.evt import MAX_SIZE
from evcrisp.io.prophesee.evt_encoder import (
    NO_EDGES,
    Edges,
    Evt2Encoder,
    Evt3Encoder,
    EvtEncoder,
)
from evcrisp.io.prophesee.evt_header import HeadedSink, check_size
from evcrisp.io.protocol import Columns, Writer

logger = logging.getLogger(__name__)


def possible_edges(encoder: type[EvtEncoder], triggers: Triggers) -> Edges:
    """Return the triggers that an encoding can hold, from time 0 on; log the number of others."""
    edges = encoder.edges_of(triggers)
    edges = edges.part(slice(int(np.searchsorted(edges.t, 0)), None))
    n_lost = len(triggers) - edges.t.size
    if n_lost:
        logger.warning(
            "%s keeps rising and falling edges of channels 0 to %d, from time 0 on; left out: %s.",
            *(encoder.title, encoder.n_channels - 1, counted(n_lost, "other trigger")),
        )
    return edges


@dataclass(slots=True, kw_only=True)
class _EvtSink(HeadedSink):
    writer: "_EvtWriter"
    resolution: tuple[int, int]
    edges: Edges = field(default=NO_EDGES, init=False)
    encoder: EvtEncoder | None = field(default=None, init=False)

    def write_triggers(self, triggers: Triggers) -> None:
        """Take the triggers, before the first event."""
        self.edges = possible_edges(self.writer.encoder, triggers)

    def first_time(self) -> int | None:
        return int(self.edges.t[0]) if self.edges.t.size else None

    def header(self, t_origin: int) -> bytes:
        version, (width, height) = self.writer.version, self.resolution
        edges = Edges(self.edges.t - t_origin, self.edges.value)
        self.encoder = self.writer.encoder(width, edges)
        name = "EVT" + version.removesuffix(".0")
        lines = [f"evt {version}", f"format {name};height={height};width={width}"]
        lines += [f"geometry {width}x{height}", *([f"t0 {t_origin}"] if t_origin else []), "end"]
        return "".join(f"% {line}\n" for line in lines).encode("ascii")

    def write_columns(self, columns: Columns) -> None:
        if self.encoder is not None:
            for words in self.encoder.encode(columns):
                self.file.write(words.data)

    def flush(self) -> None:
        """Write the pending run of events, and the last triggers."""
        if self.encoder is not None:
            for words in self.encoder.finish():
                self.file.write(words.data)


class _EvtWriter(Writer):
    """Base of the writers."""

    suffixes = (".raw",)
    keeps = ("triggers",)
    data_first = True
    version: ClassVar[str]
    max_start: ClassVar[int]  # us
    encoder: ClassVar[type[EvtEncoder]]

    def open(self, path: Path, resolution: tuple[int, int]) -> _EvtSink:
        check_size(self.title, resolution, MAX_SIZE)
        file, title, start = path.open("wb"), self.title, self.max_start
        return _EvtSink(file=file, title=title, max_start=start, writer=self, resolution=resolution)


@dataclass(frozen=True, slots=True)
class Evt3Writer(_EvtWriter):
    """Write EVT 3.0, with runs of neighbors in a row as vectors."""

    name = "evt3"
    title = "Prophesee RAW, EVT 3.0"
    version = "3.0"
    max_start = 1 << 36  # 4096 loops of the clock, 24 kB
    encoder = Evt3Encoder


@dataclass(frozen=True, slots=True)
class Evt2Writer(_EvtWriter):
    """Write EVT 2.0."""

    name = "evt2"
    title = "Prophesee RAW, EVT 2.0"
    version = "2.0"
    max_start = 1 << 34
    encoder = Evt2Encoder
