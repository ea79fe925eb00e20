"""Metrics of recordings by name: built in, registered, or from installed packages."""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol, cast

from evcrisp.core.events import Events
from evcrisp.core.registry import Registry, build, lookup
from evcrisp.metrics.aocc import AoccMeter
from evcrisp.metrics.chunks import Meter, read_chunks
from evcrisp.metrics.entropy import BLOCK_PX, EntropyMeter
from evcrisp.metrics.esr import SLICE_EVENTS, EsrMeter, EsrV2Meter


class Metric(Protocol):
    """A metric that needs no truth; a frozen dataclass of its parameters."""

    name: ClassVar[str]
    title: ClassVar[str]  # name in tables

    def start(self, resolution: tuple[int, int]) -> Meter:
        """Start to measure a recording of a sensor."""
        ...


class _BuiltIn:
    """A metric whose fields are the options of its meter."""

    __slots__ = ()
    meter: ClassVar[Callable[..., Meter]]

    def start(self, resolution: tuple[int, int]) -> Meter:
        """Start to measure a recording of a sensor."""
        return type(self).meter(resolution, **asdict(cast(Any, self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Esr(_BuiltIn):
    """Mean event structural ratio; see :func:`evcrisp.metrics.esr`."""

    name: ClassVar[str] = "esr"
    title: ClassVar[str] = "ESR"
    meter = EsrMeter
    slice_events: int = SLICE_EVENTS
    slice_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EsrV2(Esr):
    """Mean event structural ratio, version 2."""

    name: ClassVar[str] = "esr_v2"
    title: ClassVar[str] = "ESR V2"
    meter = EsrV2Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class Aocc(_BuiltIn):
    """Area of the continuous contrast curve; see :func:`evcrisp.metrics.aocc`."""

    name: ClassVar[str] = "aocc"
    title: ClassVar[str] = "AOCC"
    meter = AoccMeter


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockEntropy(_BuiltIn):
    """Entropy of the positions in bits; see :func:`evcrisp.metrics.block_entropy`."""

    name: ClassVar[str] = "entropy_bits"
    title: ClassVar[str] = "entropy bits"
    meter = EntropyMeter
    block_px: int = BLOCK_PX


_BUILT_IN = {kind.name: f"{__name__}:{kind.__name__}" for kind in (Esr, EsrV2, Aocc, BlockEntropy)}

#: Metrics by name.
METRICS: Registry[type[Metric]] = Registry("metric", _BUILT_IN, group="evcrisp.metrics")


def measure(
    events: Events | Iterable[Events], metric: str | type[Metric] | Metric, /, **options: object
) -> float:
    """Return a metric of a recording; NaN without chunks.

    Parameters
    ----------
    events : Events or iterable of Events
        Chunks are read once.
    metric, **options : str, type or object
        Name in ``METRICS``, class, or object, and its parameters.

    Examples
    --------
    >>> events = Events(x=[0, 1, 30, 31], y=[0] * 4, t=range(4), p=[1] * 4, resolution=(32, 16))
    >>> measure(events, "entropy_bits", block_px=16)
    1.0
    """
    found = lookup(METRICS, metric, "metric") if isinstance(metric, str) else metric
    meter = read_chunks(events, build(METRICS, found, "metric", **options).start)
    return math.nan if meter is None else meter.value()


def own_metrics() -> list[Metric]:
    """Return the registered and installed metrics that are not built in."""
    return [build(METRICS, METRICS[name], "metric") for name in METRICS if name not in _BUILT_IN]
