"""Labels of a method on events, with the estimates of its windows and the time."""

import time
from dataclasses import dataclass

import numpy as np

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.result import Estimate
from evcrisp.experiments.methods import Method
from evcrisp.filters import denoise
from evcrisp.pipeline.tracking import track


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Labeled:
    """Labels and scores of events; estimates are those of consecutive windows."""

    signal: Bools
    score: Floats
    estimates: tuple[Estimate, ...] = ()
    seconds: float = 0.0


def label_events(events: Events, method: Method, motion: str) -> Labeled:
    """Return what a method says about events; their labels are not shown to it."""
    plain, part = events.with_signal(None), method.configured()
    start = time.perf_counter()
    if method.kind == "filter":
        found = denoise(plain, part)
        return Labeled(signal=found.signal, score=found.score, seconds=time.perf_counter() - start)
    estimates = tuple(track(plain, part, motion, device=method.device))
    seconds = time.perf_counter() - start
    signal = np.concatenate([result.signal for result in estimates])
    score = np.concatenate([result.score for result in estimates])
    if len(signal) != len(events):
        raise EventDataError(
            f"{method.key} labeled {len(signal)} of {len(events)} events of its windows."
        )
    return Labeled(signal=signal, score=score, estimates=estimates, seconds=seconds)
