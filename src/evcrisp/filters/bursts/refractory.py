"""Refractory period: keep an event if its pixel had no event for some time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class Refractory(Filter):
    r"""Keep an event more than ``period_us`` after the last event of its pixel.

    This thins bursts and silences pixels that fire continuously; it does not separate noise from
    signal. The score is :math:`a / (a + T + 1)` with the age :math:`a` of the pixel's last event and
    the period :math:`T` in us, and 1 for the first event of a pixel.

    Parameters
    ----------
    period_us : int
        Refractory period, us.
    since_kept : bool
        Count from the last kept event, like a sensor with dead time. The default counts from the
        last event, kept or not, so a pixel that fires continuously stays silent.
    """

    name: ClassVar[str] = "refractory"
    about: ClassVar[About] = About(
        "jAER, dv-processing, tonic", "1 pixel", "1 time per pixel", compared=("eventcv",)
    )
    presets: ClassVar[Presets] = {"eventcv": {"since_kept": True}, "tonic": {"since_kept": False}}

    period_us: int = 1_000
    since_kept: bool = False

    def __post_init__(self) -> None:
        check_minimum(self, period_us=1)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.bursts.refractory import time_since_last
        from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER

        last = np.full(resolution[::-1], NEVER, np.int64)
        state = (last, self.period_us, self.since_kept)
        return KernelStream(resolution, time_since_last, "xyt", state)
