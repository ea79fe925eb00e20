"""What a flow file holds, before it is known which time it spans."""

import math
from dataclasses import dataclass

import numpy as np

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.flow import Flow
from evcrisp.core.types import Bools, Singles

#: Most pixels of a flow file; event cameras have up to a million. Checked before memory is taken.
MAX_PIXELS = 1 << 24

#: Time of a flow: start and end, us.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class StoredFlow:
    """Content of a flow file."""

    values: Singles  # (h, w, 2) displacement in px; velocity in px/s if `is_velocity`
    valid: Bools  # (h, w)
    span: Span | None  # None if the file does not state it
    is_velocity: bool = False

    def flow(self, given: Span | None) -> Flow:
        """Return the flow; ``given`` is the span that the caller states."""
        span = self.span if given is None else given
        if span is None:
            raise ConfigError(
                "must be given: the file has displacements, but not the time that they span",
                parameter=("t_start", "t_end"),
                remedy="Files of DSEC span 100 ms; `flow.csv` has the times of `evcrisp flow`.",
            )
        if self.span is not None and span != self.span:
            raise ConfigError(
                f"must agree with the file, which spans {self.span[0]} to {self.span[1]} us",
                parameter=("t_start", "t_end"),
                value=span,
                remedy="Omit them.",
            )
        values = self.values
        duration_s = (span[1] - span[0]) / 1e6
        if not self.is_velocity and duration_s > 0:  # `Flow` refuses other durations
            with np.errstate(over="ignore", invalid="ignore"):
                values = (values / np.float64(duration_s)).astype(np.float32)
        return Flow(values, self.valid, *span)


def check_size(width: int, height: int, offset: int = 0) -> None:
    """Raise if a file states a size that no flow has."""
    sides_fit = 0 < width <= 65_536 and 0 < height <= 65_536
    if not sides_fit or math.prod((width, height)) > MAX_PIXELS:
        raise FormatError(f"it states a size of {width} x {height} px", offset=offset)
