"""Metrics of recordings by name: built in, registered, or from installed packages."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from evcrisp.core.events import Events
from evcrisp.core.registry import Registry, build, lookup
from evcrisp.metrics.aocc import AoccMeter
from evcrisp.metrics.chunks import chunks_of
from evcrisp.metrics.entropy import BLOCK_PX, EntropyMeter
from evcrisp.metrics.esr import SLICE_EVENTS, EsrMeter, EsrV2Meter


class Meter(Protocol):
    """A metric of one recording in progress."""

    def add(self, events: Events) -> None:
        """Add the next chunk."""
        ...

    def value(self) -> float:
        """Return the metric of the events so far; NaN if it is undefined."""
        ...


class Metric(Protocol):
    """A metric that needs no truth; a frozen dataclass of its parameters.

    Examples
    --------
    >>> class Count:
    ...     def __init__(self):
    ...         self.n_events = 0
    ...     def add(self, events):
    ...         self.n_events += len(events)
    ...     def value(self):
    ...         return float(self.n_events)
    >>> @dataclass(frozen=True)
    ... class NumberOfEvents:
    ...     name: ClassVar[str] = "number"
    ...     title: ClassVar[str] = "number of events"
    ...     def start(self, resolution):
    ...         return Count()
    >>> measure(Events.empty((8, 4)), NumberOfEvents())
    0.0
    """

    name: ClassVar[str]
    title: ClassVar[str]  # name in tables

    def start(self, resolution: tuple[int, int]) -> Meter:
        """Start to measure a recording of a sensor."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Esr:
    """Mean event structural ratio; see :func:`evcrisp.metrics.esr`."""

    name: ClassVar[str] = "esr"
    title: ClassVar[str] = "ESR"
    slice_events: int = SLICE_EVENTS
    slice_us: int | None = None

    def start(self, resolution: tuple[int, int]) -> Meter:
        """Start to measure a recording of a sensor."""
        return EsrMeter(resolution, slice_events=self.slice_events, slice_us=self.slice_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class EsrV2(Esr):
    """Mean event structural ratio, version 2."""

    name: ClassVar[str] = "esr_v2"
    title: ClassVar[str] = "ESR V2"

    def start(self, resolution: tuple[int, int]) -> Meter:
        """Start to measure a recording of a sensor."""
        return EsrV2Meter(resolution, slice_events=self.slice_events, slice_us=self.slice_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aocc:
    """Area of the continuous contrast curve; see :func:`evcrisp.metrics.aocc`."""

    name: ClassVar[str] = "aocc"
    title: ClassVar[str] = "AOCC"

    def start(self, resolution: tuple[int, int]) -> Meter:
        """Start to measure a recording of a sensor."""
        return AoccMeter(resolution)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockEntropy:
    """Entropy of the positions in bits; see :func:`evcrisp.metrics.block_entropy`."""

    name: ClassVar[str] = "entropy_bits"
    title: ClassVar[str] = "entropy bits"
    block_px: int = BLOCK_PX

    def start(self, resolution: tuple[int, int]) -> Meter:
        """Start to measure a recording of a sensor."""
        return EntropyMeter(resolution, block_px=self.block_px)


_BUILT_IN = ("esr", "esr_v2", "aocc", "entropy_bits")

#: Metrics by name.
METRICS: Registry[type[Metric]] = Registry(
    "metric",
    {
        name: f"{__name__}:{kind.__name__}"
        for name, kind in zip(_BUILT_IN, (Esr, EsrV2, Aocc, BlockEntropy), strict=True)
    },
    group="evcrisp.metrics",
)


def measure(
    events: Events | Iterable[Events], metric: str | type[Metric] | Metric, /, **options: object
) -> float:
    """Return a metric of a recording; NaN without chunks.

    Parameters
    ----------
    events : Events or iterable of Events
        Chunks are read once.
    metric : str, type or object
        Name in ``METRICS``, class, or object.
    **options
        Parameters of the metric.

    Examples
    --------
    >>> events = Events(x=[0, 1, 30, 31], y=[0] * 4, t=range(4), p=[1] * 4, resolution=(32, 16))
    >>> measure(events, "entropy_bits", block_px=16)
    1.0
    """
    found = lookup(METRICS, metric, "metric") if isinstance(metric, str) else metric
    part, meter = build(METRICS, found, "metric", **options), None
    for chunk in chunks_of(events):
        meter = part.start(chunk.resolution) if meter is None else meter
        meter.add(chunk)
    return math.nan if meter is None else meter.value()


def own_metrics() -> list[Metric]:
    """Return the registered and installed metrics that are not built in."""
    return [build(METRICS, METRICS[name], "metric") for name in METRICS if name not in _BUILT_IN]
