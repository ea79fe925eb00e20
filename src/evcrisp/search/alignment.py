"""Objective of an alignment: contrast of the warped events, at one or several reference times."""

from dataclasses import dataclass, field, replace

import numpy as np

from evcrisp.contrast import ContrastMap, channel_weights
from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.objectives import Normalized, Objective
from evcrisp.search.contrast_engine import BlurredMap, ContrastEngine, MapBuffers
from evcrisp.search.window_data import WindowData


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Objective of the warped events as a function of theta.

    With two maps it is the sum of both; a likelihood is taken per event of each map.
    """

    data: WindowData
    contrast: ContrastMap
    objective: Objective
    weight: Floats | None = None  # (n,) weights of the events on the map; 1 by default
    polarity: str = "unsigned"  # see `evcrisp.contrast.channel_weights`
    buffers: MapBuffers = field(default_factory=MapBuffers, repr=False)  # alignments may share them
    _channels: tuple[tuple[float, ContrastEngine], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_signed(self.objective, self.polarity)
        weights = channel_weights(self.data.p, self.polarity, self.weight)
        factors = self._channel_factors([float(weight.sum()) for weight in weights])
        channels = zip(factors, map(self._engine, weights), strict=True)
        object.__setattr__(self, "_channels", tuple(channels))

    def iwe(self, theta: Floats) -> Floats:
        """Return the contrast map at ``theta``; the sum of both if polarities are separate."""
        first, *others = self.maps(theta)
        return np.sum(others, axis=0) + first if others else first

    def maps(self, theta: Floats) -> tuple[Floats, ...]:
        """Return the contrast map at ``theta``, or one of ON and one of OFF events."""
        return tuple(engine.build(theta).copy() for _, engine in self._channels)

    def value(self, theta: Floats) -> float:
        """Return the objective at ``theta``."""
        value = 0.0
        for factor, engine in self._channels:
            value += factor * self.objective.value(engine.build(theta))
        return value

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient at ``theta``, shape (m,)."""
        value, gradient = 0.0, np.zeros(len(self.data.warp.model.param_names))
        for factor, engine in self._channels:
            iwe = engine.build(theta)
            # The gradient with respect to the map replaces the map.
            part, _ = self.objective.value_and_gradient(iwe, out=iwe)
            value += factor * part
            gradient += factor * engine.pull_back(theta, iwe)
        return value, gradient / self.contrast.scale

    def normalized(self) -> "Alignment":
        """Return the same with the objective divided by its value without motion."""
        unaligned = self.value(np.zeros(len(self.data.warp.model.param_names)))
        return replace(self, objective=Normalized.by(self.objective, unaligned))

    def _channel_factors(self, counts: list[float]) -> tuple[float, ...]:
        """Return the factor of each channel in the sum, for a value per event."""
        if not self.objective.per_event or min(counts) <= 0.0:
            return (1.0,) * len(counts)
        mean = sum(counts) / len(counts)
        return tuple(mean / count for count in counts)

    def _engine(self, weight: Floats) -> ContrastEngine:
        """Return the engine of one channel, without the events of weight 0."""
        warp, kept = self.data.warp, np.flatnonzero(weight)
        if kept.size < weight.size:
            warp, weight = warp.subset(kept), weight[kept]
        target = BlurredMap.of(self.contrast, self.data.resolution, weight)
        return ContrastEngine(warp, target, self.buffers)


def check_signed(objective: Objective, polarity: str) -> None:
    """Raise a `ConfigError` if an objective does not accept signed maps."""
    if polarity == "signed" and not objective.accepts_signed:
        raise ConfigError(
            f"Objective {objective.name!r} needs counts, and a signed map has values below 0.",
            remedy="Use polarity 'unsigned' or 'separate', or the objective 'variance'.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class MultiReference:
    r"""Weighted harmonic mean of an objective over several reference times.

    .. math:: F(\theta) = \Bigl(\sum_i s_i \frac{f_0}{f_i(\theta)}\Bigr)^{-1}, \qquad \sum_i s_i = 1

    with the objective :math:`f_i` at reference time i and :math:`f_0` without motion; eq. (23) of
    ``docs/theory/math.md``. A motion that gathers the events on a few pixels at one time scatters them
    at another. The harmonic mean is dominated by the worst time; the arithmetic mean, by the best,
    would reward a collapse. Its maximum minimizes the usual loss, the sum of :math:`f_0 / f_i`.

    References
    ----------
    S. Shiba, Y. Aoki, G. Gallego, "Secrets of event-based optical flow", ECCV 2022.
    """

    parts: tuple[Alignment, ...]  # normalized alignment at each reference time
    shares: tuple[float, ...]  # their weights s_i

    @classmethod
    def of(cls, alignment: Alignment) -> "MultiReference":
        """Use start, middle and end of the window; the middle has twice the weight."""
        check_positive(alignment.objective)
        normal, half_s = alignment.normalized(), 0.5 * alignment.data.duration_s
        parts = tuple(replace(normal, data=normal.data.at(s)) for s in (-half_s, 0.0, half_s))
        return cls(parts, (0.25, 0.5, 0.25))

    def iwe(self, theta: Floats) -> Floats:
        """Return the contrast map at the middle reference time."""
        return self.parts[len(self.parts) // 2].iwe(theta)

    def value(self, theta: Floats) -> float:
        """Return the mean at ``theta``; 1 without motion, 0 if one value is 0."""
        return self._mean([part.value(theta) for part in self.parts])

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the mean and its gradient at ``theta``, shape (m,)."""
        found = [part.value_and_gradient(theta) for part in self.parts]
        mean = self._mean([value for value, _ in found])
        if mean == 0.0:
            return 0.0, np.zeros(np.shape(theta))
        total = np.zeros(np.shape(theta))
        for share, (value, gradient) in zip(self.shares, found, strict=True):
            total += share * (mean / value) ** 2 * gradient
        return mean, total

    def _mean(self, values: list[float]) -> float:
        if min(values) <= 0.0:
            return 0.0
        return 1.0 / sum(share / value for share, value in zip(self.shares, values, strict=True))


def check_positive(objective: Objective) -> None:
    """Raise a `ConfigError` if an objective can be negative: it has no harmonic mean."""
    if not objective.is_positive:
        raise ConfigError(
            f"Several reference times need an objective of 0 or more; {objective.name!r} is below.",
            remedy="Use 'variance' or 'gradient_magnitude'.",
        )
