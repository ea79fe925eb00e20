"""Noise filters of dv-processing (iniVation), with its defaults."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.experiments.bench.competitors.live import LiveFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class _DvFilter(LiveFilter):
    module: ClassVar[str] = "dv_processing"
    distribution: ClassVar[str] = "dv-processing"

    def signal_of(self, events: Events) -> Bools:
        retain = self.program(events.resolution).retain
        kept = (retain(event) for event in events.to_dv())
        return np.fromiter(kept, np.bool_, len(events))

    def program(self, resolution: tuple[int, int]) -> Any:
        """Return the filter of dv-processing for a sensor."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class DvBaf(_DvFilter):
    """`BackgroundActivityNoiseFilter` of dv-processing."""

    name: ClassVar[str] = "dv-baf"
    title: ClassVar[str] = "BAF of dv-processing"
    tau_us: int = 2000

    def program(self, resolution: tuple[int, int]) -> Any:
        """Return the filter."""
        duration = timedelta(microseconds=self.tau_us)
        return self.library().noise.BackgroundActivityNoiseFilter(resolution, duration)


@dataclass(frozen=True, slots=True, kw_only=True)
class DvFastDecay(_DvFilter):
    """`FastDecayNoiseFilter` of dv-processing."""

    name: ClassVar[str] = "dv-fastdecay"
    title: ClassVar[str] = "FastDecay of dv-processing"
    half_life_us: int = 10_000
    subdivision: int = 4
    threshold: float = 6.0

    def program(self, resolution: tuple[int, int]) -> Any:
        """Return the filter."""
        life = timedelta(microseconds=self.half_life_us)
        noise = self.library().noise
        return noise.FastDecayNoiseFilter(resolution, life, self.subdivision, self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class DvKnoise(_DvFilter):
    """`KNoiseFilter` of dv-processing."""

    name: ClassVar[str] = "dv-knoise"
    title: ClassVar[str] = "KNoise of dv-processing"
    tau_us: int = 1000

    def program(self, resolution: tuple[int, int]) -> Any:
        """Return the filter."""
        return self.library().noise.KNoiseFilter(resolution, timedelta(microseconds=self.tau_us))
