"""Clean a stream of events with an estimator, window by window, or with a filter."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.result import Estimate
from evcrisp.filters import FILTERS, Filter, build_filter, denoise_chunks
from evcrisp.motion import MotionModel
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing

logger = logging.getLogger(__name__)

Method = str | Estimator | Filter


@dataclass(frozen=True, slots=True, eq=False)
class LivePart:
    """Events with final labels: those of a window, or of a packet if the method is a filter."""

    events: Events
    kept: Events
    estimate: Estimate | None = None  # None for filters


#: Function from a stream of events to its labeled parts.
Cleaning = Callable[[Iterator[Events]], Iterator[LivePart]]


def cleaning_by(
    method: Method,
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    windowing: Windowing | None = None,
    **params: Any,
) -> tuple[str, Cleaning]:
    """Return the name of a method, and the function that cleans a stream with it."""
    if is_filter(method):
        config = build_filter(cast("str | Filter", method), **params)
        return config.name, lambda chunks: _filtered(chunks, config)
    windowing = Windowing() if windowing is None else windowing
    if windowing.overlap:
        raise ConfigError("must be 0 for live events", parameter="overlap", value=windowing.overlap)
    estimator = build(ESTIMATORS, cast("str | Estimator", method), "method", **params)

    def clean(chunks: Iterator[Events]) -> Iterator[LivePart]:
        for result in track(chunks, estimator, motion, camera, windowing=windowing):
            events = result.window.events
            yield LivePart(events, events[result.signal], result)

    return estimator.name, clean


def is_filter(method: Method) -> bool:
    """Return whether a method labels event by event; estimators come first.

    >>> is_filter("baf"), is_filter("auto")
    (True, False)
    """
    if isinstance(method, str):
        return method in FILTERS and method not in ESTIMATORS
    return hasattr(method, "start")


def warm_up(cleaning: Cleaning) -> None:
    """Run a method once on random events, so that its kernels are compiled before the first event."""
    rng = np.random.default_rng(0)
    n = 4000
    events = Events(
        x=rng.integers(0, 64, n),
        y=rng.integers(0, 64, n),
        t=np.sort(rng.integers(0, 40_000, n)),
        p=rng.integers(0, 2, n),
        resolution=(64, 64),
    )
    for _ in cleaning(iter((events[: n // 2], events[n // 2 :]))):
        pass


def _filtered(chunks: Iterator[Events], config: Filter) -> Iterator[LivePart]:
    for events, labels in denoise_chunks(chunks, config):
        yield LivePart(events, labels.kept(events))
