"""What the outputs of Prophesee's formats share: a text header that may state a time, then words."""

import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import BinaryIO

from evcrisp.core.errors import OutputError
from evcrisp.core.events import Events
from evcrisp.io.prophesee.evt_decoder import Columns
from evcrisp.io.prophesee.evt_header import MAX_TIME_BASE
from evcrisp.io.protocol import PACKET_EVENTS

logger = logging.getLogger(__name__)


def check_size(title: str, resolution: tuple[int, int], limit: int) -> None:
    """Raise if a sensor is larger than a format can say."""
    if max(resolution) > limit:
        raise OutputError(
            f"{title} keeps sensors up to {limit}x{limit} px; got {resolution[0]}x{resolution[1]}. "
            "Use another format, such as npz."
        )


@dataclass(slots=True, kw_only=True)
class HeadedSink(ABC):
    """An open output; the header is written with the first events, whose time it may state."""

    file: BinaryIO
    title: str
    max_start: int  # us; a first time from here on goes to the header, and the words start at 0
    t_origin: int | None = field(default=None, init=False)

    @abstractmethod
    def header(self, t_origin: int) -> bytes:
        """Return the header; it states ``t_origin`` unless that is 0."""

    @abstractmethod
    def write_columns(self, columns: Columns) -> None:
        """Append contiguous columns, with time from the origin on; at least one event."""

    @abstractmethod
    def flush(self) -> None:
        """Write what waits for more events, if anything does."""

    def write(self, events: Events) -> None:
        """Append events."""
        for first in range(0, len(events), PACKET_EVENTS):
            part = events[first : first + PACKET_EVENTS].contiguous()
            if self.t_origin is None:
                self._start(self._origin(int(part.t[0])))
            t = part.t - self.t_origin if self.t_origin else part.t
            self.write_columns(Columns(part.x, part.y, t, part.p))

    def finish(self) -> None:
        """Complete and close the file."""
        if self.t_origin is None:
            self._start(0)
        self.flush()
        self.file.close()

    def abort(self) -> None:
        """Close the file without completing it."""
        self.file.close()

    def _start(self, t_origin: int) -> None:
        self.t_origin = t_origin
        self.file.write(self.header(t_origin))

    def _origin(self, first: int) -> int:
        """Return what to subtract from all times: 0, or the first time where it is too late."""
        if not 0 <= first < MAX_TIME_BASE:
            which = "before 0" if first < 0 else f"from {MAX_TIME_BASE} us on"
            raise OutputError(
                f"{self.title} has no time {which}; the first event is at {first} us. "
                "Shift the time first, or use another format, such as npz."
            )
        if first < self.max_start:
            return 0
        logger.warning(
            "%s cannot say a first time of %d us; it goes to a line `t0` of the header, which "
            "evcrisp and faery add again. Other programs see the recording start at 0.",
            self.title,
            first,
        )
        return first
