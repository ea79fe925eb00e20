"""Noise events: leak, shot noise, hot pixels, uniform and measured noise.

Every kind has its own generator for every slab. One kind therefore changes neither the others nor
the signal, and the size of chunks does not matter. A source has one method, ``batch(slab, n_signal)``,
to be called once per slab, in order; ``n_signal`` is the number of signal events of the slab.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats
from evcrisp.core.windows import US_PER_S
from evcrisp.simulation.config import NoiseConfig
from evcrisp.simulation.measured import Intervals, MeasuredNoise
from evcrisp.simulation.result import Origin
from evcrisp.simulation.scene import View
from evcrisp.simulation.seeds import Stream, generator

if TYPE_CHECKING:
    from evcrisp.kernels.simulation.sensor import Motions


class Batch(NamedTuple):
    """Noise events of one origin in one slab, in any order."""

    origin: Origin
    t: NDArray[np.int64]  # (n,) us since the start of the recording
    pixel: NDArray[np.int64]  # (n,)
    p: NDArray[np.bool_]  # (n,)


class Slab(NamedTuple):
    """A piece of time, and the motion of the scene in it."""

    number: int
    t_start: int  # us since the start of the recording
    t_end: int  # us, not included
    motions: "Motions"

    @property
    def seconds(self) -> float:
        """Length of the slab."""
        return (self.t_end - self.t_start) / US_PER_S


@dataclass(slots=True, eq=False)
class Leak:
    """ON events, nearly periodic in each pixel, with a random phase."""

    period_us: Floats  # (n_pixels,)
    jitter: float
    seed: int
    due_us: Floats = field(init=False)  # (n_pixels,) time of the next event

    def __post_init__(self) -> None:
        phase = generator(self.seed, Stream.LEAK).random(self.period_us.size)
        self.due_us = phase * self.period_us

    def batch(self, slab: Slab, n_signal: int) -> Batch:
        """Return the events of a slab, and advance the next events."""
        rng = generator(self.seed, Stream.LEAK, slab.number)
        times, pixels = [], []
        due = np.flatnonzero(self.due_us < slab.t_end)
        while due.size:
            times.append(self.due_us[due])
            pixels.append(due)
            factor = np.maximum(1.0 + self.jitter * rng.standard_normal(due.size), 0.1)
            self.due_us[due] += self.period_us[due] * factor
            due = due[self.due_us[due] < slab.t_end]
        t = np.concatenate(times) if times else np.empty(0)
        pixel = np.concatenate(pixels) if pixels else np.empty(0, np.int64)
        return Batch(Origin.LEAK, t.astype(np.int64), pixel, np.ones(t.size, np.bool_))


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """Random ON and OFF events, at a higher rate where the scene is dark."""

    rate_hz: float
    dark_ratio: float
    spread: Floats | None  # (n_pixels,) rate relative to the mean; None if all are equal
    view: View
    mean_factor: float  # mean of `darkness` over the background
    seed: int

    def batch(self, slab: Slab, n_signal: int) -> Batch:
        """Draw at the rate of the darkest point, then thin by brightness."""
        rng = generator(self.seed, Stream.SHOT, slab.number)
        n_pixels = len(self.view.base)
        most_hz = self.rate_hz / self.mean_factor
        if self.spread is None:
            n = int(rng.poisson(most_hz * slab.seconds * n_pixels))
            pixel = rng.integers(0, n_pixels, n)
        else:
            counts = rng.poisson(most_hz * slab.seconds * self.spread)
            pixel = np.repeat(np.arange(n_pixels), counts)
            n = pixel.size
        t = rng.integers(slab.t_start, slab.t_end, n)
        p, chance = rng.random(n) < 0.5, rng.random(n)
        if self.dark_ratio > 1.0:
            keep = chance < self._factor_at(t, pixel, slab)
            t, pixel, p = t[keep], pixel[keep], p[keep]
        return Batch(Origin.SHOT, t, pixel, p)

    def _factor_at(self, t: NDArray[np.int64], pixel: NDArray[np.int64], slab: Slab) -> Floats:
        from evcrisp.kernels.simulation.sensor import log_intensity_at

        n_steps = len(slab.motions.matrices) - 1
        step = (t - slab.t_start) * n_steps // (slab.t_end - slab.t_start)
        level = np.empty(t.size)
        log_intensity_at(pixel, step, self.view.base, slab.motions, self.view.scene, level)
        return darkness(level, self.view.log_range, self.dark_ratio)


def darkness(level: Floats, log_range: tuple[float, float], dark_ratio: float) -> Floats:
    """Return 1 for the darkest level, ``1 / dark_ratio`` for the brightest, exponential between."""
    low, high = log_range
    return dark_ratio ** (-(level - low) / max(high - low, 1e-12))


@dataclass(frozen=True, slots=True, eq=False)
class Hot:
    """Hot pixels, each with one polarity."""

    pixel: NDArray[np.int64]  # (n_hot,)
    p: NDArray[np.bool_]  # (n_hot,)
    rate_hz: float
    seed: int

    def batch(self, slab: Slab, n_signal: int) -> Batch:
        """Return the events of a slab."""
        rng = generator(self.seed, Stream.HOT, slab.number)
        n = rng.poisson(self.rate_hz * slab.seconds * self.pixel.size)
        which = rng.integers(0, self.pixel.size, n)
        t = rng.integers(slab.t_start, slab.t_end, n)
        return Batch(Origin.HOT, t, self.pixel[which], self.p[which])


@dataclass(slots=True, eq=False)
class Uniform:
    """Events uniform in space, time and polarity."""

    rate_hz: float
    share: float
    n_pixels: int
    seed: int
    owed: float = 0.0  # events of the share that are not drawn yet

    def batch(self, slab: Slab, n_signal: int) -> Batch:
        """Return the events of a slab with ``n_signal`` signal events."""
        rng = generator(self.seed, Stream.UNIFORM, slab.number)
        self.owed += self.share * n_signal
        n_owed = int(self.owed)
        self.owed -= n_owed
        n = int(rng.poisson(self.rate_hz * slab.seconds * self.n_pixels)) + n_owed
        t = rng.integers(slab.t_start, slab.t_end, n)
        return Batch(Origin.UNIFORM, t, rng.integers(0, self.n_pixels, n), rng.random(n) < 0.5)


@dataclass(slots=True, eq=False)
class Measured:
    """Events at measured intervals; every pixel is one of the measured pixels."""

    noise: MeasuredNoise
    n_pixels: int
    seed: int
    row: NDArray[np.int64] = field(init=False)  # (n_pixels,) measured pixel of each pixel
    due_us: Floats = field(init=False)  # (2, n_pixels) time of the next event, OFF and ON

    def __post_init__(self) -> None:
        rng = generator(self.seed, Stream.MEASURED)
        self.row = rng.integers(0, len(self.noise.on), self.n_pixels)
        self.due_us = np.full((2, self.n_pixels), np.inf)
        for due, intervals in zip(self.due_us, self._polarities(), strict=True):
            fires = np.flatnonzero(~intervals.is_silent[self.row])
            due[fires] = intervals.draw_first_us(self.row[fires], rng)

    def _polarities(self) -> tuple[Intervals, Intervals]:
        return self.noise.off, self.noise.on

    def batch(self, slab: Slab, n_signal: int) -> Batch:
        """Return the events of a slab, and advance the next events."""
        rng = generator(self.seed, Stream.MEASURED, slab.number)
        found = [(np.empty(0), np.empty(0, np.int64), np.empty(0, np.bool_))]
        for p, intervals in enumerate(self._polarities()):
            due = np.flatnonzero(self.due_us[p] < slab.t_end)
            while due.size:
                found.append((self.due_us[p, due], due, np.full(due.size, bool(p))))
                self.due_us[p, due] += intervals.draw_us(self.row[due], rng)
                due = due[self.due_us[p, due] < slab.t_end]
        t, pixel, p = (np.concatenate(column) for column in zip(*found, strict=True))
        return Batch(Origin.MEASURED, t.astype(np.int64), pixel, p)


Source = Leak | Shot | Hot | Uniform | Measured


def build_noise(config: NoiseConfig, view: View, seed: int) -> list[Source]:
    """Return the noise sources of a config with rates above zero, in the order of `Origin`."""
    n_pixels = len(view.base)
    sources: list[Source] = []
    if config.leak_hz > 0:
        rate = config.leak_hz * _spread(config, n_pixels, seed, Stream.LEAK)
        sources.append(Leak(US_PER_S / rate, config.leak_jitter, seed))
    if config.shot_hz > 0:
        is_spread = config.spread_decades > 0
        spread = _spread(config, n_pixels, seed, Stream.SHOT) if is_spread else None
        factors = darkness(view.scene.log_texture[0], view.log_range, config.dark_ratio)
        factor = float(factors.mean())
        sources.append(Shot(config.shot_hz, config.dark_ratio, spread, view, factor, seed))
    n_hot = min(n_pixels, config.hot_pixels + round(config.hot_share * n_pixels))
    if n_hot and config.hot_hz > 0:
        rng = generator(seed, Stream.HOT)
        pixel = np.sort(rng.choice(n_pixels, n_hot, replace=False))
        sources.append(Hot(pixel, rng.random(n_hot) < 0.5, config.hot_hz, seed))
    if config.uniform_hz > 0 or config.uniform_share > 0:
        sources.append(Uniform(config.uniform_hz, config.uniform_share, n_pixels, seed))
    if isinstance(config.measured, MeasuredNoise):
        sources.append(Measured(config.measured, n_pixels, seed))
    return sources


def _spread(config: NoiseConfig, n_pixels: int, seed: int, stream: Stream) -> Floats:
    """Return the rate of each pixel relative to the mean rate."""
    # Two indices: generators of slabs have one, so that no random numbers are shared.
    normal = generator(seed, stream, 0, 0).standard_normal(n_pixels)
    factor = 10.0 ** (config.spread_decades * normal)
    return factor / factor.mean()
