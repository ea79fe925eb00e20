"""What is reported of event structural ratios."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.types import Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EsrSlices:
    """One value per slice, shape (m,)."""

    n_events: NDArray[np.int64]
    occupied: NDArray[np.int64]  # pixels with events
    ntss: Floats  # chance that two events of the slice share a pixel
    l_n: Floats  # pixels that two thirds of the events are expected to reach
    esr: Floats
    esr_v2: Floats

    def __len__(self) -> int:
        return self.esr.size


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EsrReport:
    """Mean ratios of a recording with what is needed to judge them.

    The last five are NaN where the raw recording was not given. A ratio that does not clearly
    exceed ``random_esr`` says nothing about a filter: as many events drawn blindly get it too.
    """

    esr: float  # mean over the slices (MESR), version 1
    esr_v2: float  # mean over the slices, version 2
    slices: EsrSlices
    n_events: int  # of the recording, the incomplete last slice included
    n_empty: int  # slices of time without events, which no mean counts
    slicing: str  # "30000 events" or "33000 us"
    retention: float = math.nan  # share of the raw events
    raw_esr: float = math.nan
    raw_esr_v2: float = math.nan
    random_esr: float = math.nan  # of as many events, drawn from the raw ones
    random_esr_v2: float = math.nan

    @property
    def n_slices(self) -> int:
        """Slices that the means are over."""
        return len(self.slices)

    def beside(self, raw: "EsrReport", random: "EsrReport") -> "EsrReport":
        """Return the report with retention and controls filled in from two others."""
        if self.n_events > raw.n_events:
            raise EventDataError(
                f"The events must be some of the raw ones; got {self.n_events}, but "
                f"{raw.n_events} raw ones. Give the recording that they were taken from."
            )
        return replace(
            self,
            retention=self.n_events / raw.n_events if raw.n_events else math.nan,
            raw_esr=raw.esr,
            raw_esr_v2=raw.esr_v2,
            random_esr=random.esr,
            random_esr_v2=random.esr_v2,
        )
